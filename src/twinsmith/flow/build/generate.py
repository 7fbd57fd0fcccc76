"""A task, its profile and a brief in, one candidate out."""

from dataclasses import replace

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.library_names import undefined
from twinsmith.core.model import Ask, Question
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate
from twinsmith.core.replies.reply_code import Reading, read_reply
from twinsmith.core.task import Task
from twinsmith.core.wording import entry_in, spoken
from twinsmith.flow.build.brief import Brief
from twinsmith.prompts import render

# The ensembles ask in different words, so that one model thinks in two ways.
STYLES = {1: "code", 2: "code_careful"}
NOTED = "code_noted"
FILL_IN = (
    "Fill in this file; keep the names and parameters as they are, and put nothing around them:"
)


async def generate(task: Task, profile: Profile, brief: Brief, ask: Ask) -> Candidate:
    """Ask for one candidate; an answer that cannot be used is a candidate without a program."""
    template = NOTED if brief.way == "noted" else STYLES[brief.ensemble]
    question = Question(
        role="coder",
        nth=brief.number - 1,
        text=render(
            template,
            task=task.text,
            language=spoken(task.language),
            told=told(task, profile, brief.told),
        ),
        ensemble=brief.ensemble,
        temperature=brief.temperature,
        template=template,
    )
    return await candidate_from(question, task, profile, brief, ask)


async def candidate_from(
    question: Question, task: Task, profile: Profile, brief: Brief, ask: Ask
) -> Candidate:
    """The candidate in a coder's answer to a question; without a program where it has none."""
    made = Candidate(
        number=brief.number, program=None, ensemble=brief.ensemble, way=brief.way, of=brief.of
    )

    def read(text: str) -> Reading:
        return _reading(text, task, profile)

    try:
        reply = await ask(replace(question, read=lambda text: read(text).repairs))
        reading = read(reply.text)
    except (BadReply, BudgetExceeded) as error:
        return replace(made, problem=str(error))
    return replace(made, program=reading.program, repairs=reading.repairs)


def _reading(text: str, task: Task, profile: Profile) -> Reading:
    """The program in a reply; BadReply where it is not what was asked for."""
    reading = read_reply(text, language=task.language, entry=profile.entry, kind=task.kind)
    if profile.names and not any(name in reading.program.text for name in profile.names):
        raise BadReply(f"the answer defines none of {', '.join(profile.names)}")
    if missing := undefined(reading.program, profile.must):
        raise BadReply(f"the answer does not define {', '.join(missing)}, which the task names")
    return reading


def told(task: Task, profile: Profile, more: str) -> str:
    """The text that a coder reads besides the task: outline, signature, practice, hints."""
    lines = [f"{FILL_IN}\n{profile.skeleton}" if profile.skeleton else profile.described]
    lines = [line for line in lines if line]
    if profile.entry and not entry_in(task.text):
        lines.append(f"Define exactly this: {profile.signature or profile.entry}")
    if profile.practice:
        lines.append(f"Keep to this:\n{profile.practice}")
    if profile.answer:
        lines.append(f"{profile.question} {profile.answer}")
    if more:
        lines.append(more)
    return "\n" + "\n".join(lines) + "\n" if lines else ""
