"""The description of a command, as a model gives it: how it is run and what it prints."""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from twinsmith.core.checks.inputs import input_text
from twinsmith.core.errors import BadReply
from twinsmith.core.probe import Command, Probe
from twinsmith.core.program import FILE_NAMES, MODULE
from twinsmith.core.replies.reply_json import object_in, object_schema, open_question, words

MOST_RUNS = 20
MOST_ARGS = 12
MOST_FILES = 4
LONGEST_TEXT = 2_000
MOST_WORDS = 12
"""The most words of a usage line; a longer one is a sentence."""
_PRINTS = "the letters, last one first"
"""The output of the example program; a description that repeats it was copied."""
_FILE_SCHEMA = object_schema(
    {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,20}[.][a-z]{1,4}$"},
        "text": {"type": "string"},
    }
)
_READS = {"stdin": "standard input", "files": "files that its arguments name"}
_TAKES = {"args": "arguments", "options": "options"}
# A small model that puts its own command line on standard input.
_ECHO = re.compile(r"^\s*(?:\$ |\./|python3? \w|solution\b)|\b\w+\.py\b|(?:^|\s)--\w")
_FILE = re.compile(rf"(?!{MODULE}\b)[A-Za-z]\w{{0,40}}(?:\.\w{{1,10}})?")
_OWN_NAMES = frozenset({MODULE, *FILE_NAMES.values()})
_PROGRAM = re.compile(
    r"^(?:\$ *)?(?:(?:python3?|perl|go run|cargo run --) +)?(?:\./)?[a-z][\w.-]*(?!\S)"
)


def runs_schema(channels: Collection[str], most: int = 8) -> str:
    """The JSON schema for runs of a command, each with only the inputs that the task speaks of."""
    return json.dumps(object_schema({"runs": _runs_of(channels, most)}))


def schema(channels: Collection[str]) -> str:
    """The JSON schema for the description of a command with two or three runs."""
    text = {"type": "string"}
    parts = {"usage": text, "prints": text, "runs": _runs_of(channels, 3)}
    return json.dumps(object_schema({**parts, "question": text, "assumed": text}))


def _runs_of(channels: Collection[str], most: int) -> dict[str, object]:
    takes_words = bool({"args", "options", "files"} & set(channels))
    run = {
        "args": {
            "type": "array",
            "maxItems": 6 if takes_words else 0,
            "items": {"type": "string"},
        },
        "stdin": {"type": "string"} if "stdin" in channels else {"const": ""},
        "files": {
            "type": "array",
            "maxItems": 2 if "files" in channels else 0,
            "items": _FILE_SCHEMA,
        },
        "stdout": {"type": "string"},
    }
    return {"type": "array", "minItems": 2, "maxItems": most, "items": object_schema(run)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The description of a command: its input, usage, output and example runs."""

    given: str
    """The kinds of input that the command gets, in a sentence."""
    usage: str
    prints: str
    runs: tuple[Command, ...]
    """Example runs that the model which described the command made up."""
    question: str = ""
    assumed: str = ""

    def text(self) -> str:
        """The description as coders and people read it."""
        lines = [self.given, f"It is run as: solution {self.usage}".rstrip()]
        if self.prints:
            lines.append(f"It prints: {self.prints}")
        lines.append(
            "Wrong use: one line on standard error and exit code 2, unless the task says otherwise."
        )
        return "\n".join(lines)

    def form(self) -> str:
        """One example run, so that all coders print in the same form; empty where there is none.

        Its numbers are often wrong, so it says that the task decides; what was copied says nothing.
        """
        run = next((run for run in self.runs if run.stdout), None)
        if run is None or not self.prints:
            return ""
        told = "The form of what is printed, unless the task says otherwise (numbers may be wrong)"
        return f"{told}: {input_text(run)} prints {run.stdout!r}"


def given_by(channels: Collection[str]) -> str:
    """The kinds of input that a command gets, in a sentence."""
    reads = [_READS[each] for each in ("stdin", "files") if each in channels]
    takes = [_TAKES[each] for each in ("args", "options") if each in channels]
    parts = [f"reads {' and '.join(reads)}"] if reads else []
    if takes:
        parts.append(f"takes {' and '.join(takes)}")
    elif "files" not in channels:
        parts.append("takes no arguments")
    if "stdin" not in channels:
        parts.append("reads nothing from standard input")
    return f"It {', '.join(parts)}."


def example_for(channels: Collection[str]) -> tuple[str, str]:
    """Another task with the same kinds of input, and how its command is described.

    Nothing that people ask for: small models stay near to what they are shown.
    """
    run: dict[str, object] = {"args": [], "stdin": "", "files": [], "stdout": "cba"}
    task, usage = "says backwards what it reads from standard input", ""
    if "stdin" in channels:
        run |= {"stdin": "abc\n"}
    elif "files" in channels:
        task, usage = "says a file backwards", "FILE"
        run |= {"args": ["a.txt"], "files": [{"name": "a.txt", "text": "abc\n"}]}
    else:
        task, usage = "says a word backwards", "WORD"
        run |= {"args": ["abc"]}
    told = {"usage": usage, "prints": _PRINTS, "runs": [run], "question": "", "assumed": ""}
    return task, json.dumps(told)


def read_command_line(text: str, channels: Collection[str] = ("args",)) -> CommandLine:
    """The description in a reply; BadReply says what is missing."""
    raw = object_in(text, "the description")
    usage = _PROGRAM.sub("", words(raw, "usage"), count=1).strip()
    prints = words(raw, "prints")
    if len(usage.split()) > MOST_WORDS:
        # The task over again, in other words.
        usage = ""
    if not {"args", "options", "files"} & set(channels):
        usage = ""
    elif "options" not in channels:
        usage = " ".join(word for word in usage.split() if "--" not in word)
    question, assumed = open_question(raw)
    return CommandLine(
        given=given_by(channels),
        usage=usage,
        prints="" if prints.lower().startswith(_PRINTS) else prints,
        runs=tuple(_runs(raw)),
        question=question,
        assumed=assumed,
    )


def read_runs(text: str) -> dict[Probe, int]:
    """The runs that a critic proposes, and how often each; BadReply where there is none."""
    found = Counter(_runs(object_in(text, "the answer")))
    if not found:
        raise BadReply("the answer has no run of the program; ask again")
    return {proposal(run): times for run, times in found.items()}


def proposal(run: Command) -> Probe:
    """An example run as a check that a model proposed."""
    return Probe(name=input_text(run), origin="plan", command=run)


def _runs(raw: Mapping[str, object]) -> list[Command]:
    listed = raw.get("runs")
    runs = [_run(each) for each in (listed if isinstance(listed, list) else [])[:MOST_RUNS]]
    return [run for run in runs if run is not None and not _ECHO.search(run.stdin)]


def _run(raw: object) -> Command | None:
    if not isinstance(raw, dict):
        return None
    args, stdin, stdout = raw.get("args"), raw.get("stdin", ""), raw.get("stdout")
    if not isinstance(args, list) or not isinstance(stdin, str) or not isinstance(stdout, str):
        return None
    texts = [str(arg) for arg in args if isinstance(arg, str | int | float)]
    if texts and texts[0].removeprefix("./") in _OWN_NAMES:
        # Whoever writes a run may begin with the program itself, as in a shell.
        texts = texts[1:]
    files = _files(raw.get("files", []))
    whole = "".join([*texts, stdin, stdout, *(text for _, text in files)])
    if len(texts) > MOST_ARGS or len(whole) > LONGEST_TEXT or "\0" in whole:
        return None
    return Command(args=tuple(texts), stdin=stdin, stdout=stdout, files=files)


def _files(raw: object) -> tuple[tuple[str, str], ...]:
    """The files that a run reads; only plain names that are not the program's own are kept."""
    found: dict[str, str] = {}
    for each in raw if isinstance(raw, list) else []:
        if isinstance(each, dict):
            name, text = each.get("name"), each.get("text")
            if isinstance(name, str) and isinstance(text, str) and _FILE.fullmatch(name):
                found.setdefault(name, text)
    return tuple(found.items())[:MOST_FILES]
