"""An incident and the check that shows it in, diagnoses out: what either slow thinker believes."""

from collections.abc import Mapping, Sequence

from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.model import Question, taken_whole
from twinsmith.core.operating.diagnosis import Diagnosis, read_diagnosis, schema
from twinsmith.core.operating.trouble import Trouble
from twinsmith.flow.recorder import Recorder
from twinsmith.prompts import render

NTH = 40
"""The number of the first question about a cause, far from a slow thinker's other questions."""
HEATS = {1: 0.0, 2: 0.5}
TOKENS = 200
LONGEST_SAID, LONGEST_DIFF, LONGEST_SHOWN = 1200, 1600, 500
"""Characters: a small model ignores most of a long prompt."""


async def diagnose(
    task: str,
    trouble: Trouble,
    shown: str,
    functions: Mapping[str, str],
    known: Sequence[Reminder],
    ensembles: Sequence[int],
    recorder: Recorder,
) -> tuple[Diagnosis, ...]:
    """What the slow thinkers say is the cause, each once; nothing of who says nothing useful."""
    text = render(
        "diagnose",
        task=task,
        seen=f"{trouble.kind}: {trouble.told}",
        shown=shown[:LONGEST_SHOWN],
        said=_part("What it wrote last:", "\n".join(trouble.evidence.said)[-LONGEST_SAID:]),
        diff=_part("What changed since the release before:", trouble.diff[:LONGEST_DIFF]),
        known=_part(
            "Known from before:", "\n".join([*(each.text for each in known), *trouble.tried])
        ),
        functions="\n\n".join(functions.values()),
    )
    names = tuple(functions)

    async def asked(ensemble: int) -> Diagnosis | None:
        question = Question(
            role="slow",
            nth=NTH + ensemble,
            text=text,
            ensemble=ensemble,
            temperature=HEATS[ensemble],
            schema=schema(names),
            tokens=TOKENS,
            template="diagnose",
            read=taken_whole(lambda text: read_diagnosis(text, names)),
        )
        try:
            return read_diagnosis((await recorder.ask(question)).text, names)
        except (BadReply, BudgetExceeded):
            return None

    said, _ = await recorder.together([asked(each) for each in ensembles], [])
    return tuple(dict.fromkeys(each for each in said if each is not None))


def _part(title: str, text: str) -> str:
    return f"\n{title}\n{text}\n" if text.strip() else ""
