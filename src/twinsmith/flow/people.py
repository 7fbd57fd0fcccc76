"""A person's answer to a question of a run, whether it comes at once or days later."""

from twinsmith.core.errors import Waiting
from twinsmith.core.people.question import Asked, PersonalQuestion, answer_in
from twinsmith.ports import Desk, Durable


async def answer_to(question: PersonalQuestion, name: str, desk: Desk, durable: Durable) -> str:
    """The answer, asked for once in the step of this name; the assumption where none comes in time.

    Raises Waiting where the run is left until somebody answers.
    """

    async def ask() -> Asked:
        return await desk.ask(question)

    said = await durable.step(name, ask, Asked)
    if said.answer is not None:
        return said.answer
    try:
        given = answer_in(await durable.receive(question.id, said.until))
    except Waiting as waiting:
        told = f'{waiting} for an answer: twinsmith answer {question.id} "…"'
        raise Waiting(told, topic=waiting.topic, until=waiting.until) from waiting
    return given.text if given else question.assumed
