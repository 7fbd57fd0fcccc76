"""A question of a stage and the job that it is asked for in, the prompt of that run out."""

from twinsmith.core.budget import Reservation
from twinsmith.core.model import Prompt, Question
from twinsmith.core.task import Job
from twinsmith.prompts import version


def prompt_of(question: Question, job: Job, name: str, reserved: Reservation) -> Prompt:
    """The prompt of a step of that name, with the tokens and the money that it may take."""
    return Prompt(
        key=f"{job.run}/{name}",
        role=question.role,
        nth=question.nth,
        retry=question.retry,
        text=question.text,
        task=job.task.text,
        seed=job.seed + question.nth + 1000 * question.retry,
        max_tokens=reserved.reply_tokens,
        ensemble=question.ensemble,
        purpose=question.purpose,
        temperature=question.temperature,
        schema=question.schema,
        max_usd=reserved.usd,
        template=question.template,
        template_version=version(question.template),
        asks=job.arrangement.asks(question.role, question.ensemble),
    )
