"""The example runs of a command in the words of a task, with what each has to print.

Text is only parsed here. What is not surely an example is left out, because an example decides.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from twinsmith.core.checks.inputs import printed
from twinsmith.core.probe import Command

LONGEST_TEXT = 50_000
MOST_EXAMPLES = 20
_PROMPT = re.compile(r"^[ \t]*\$[ \t]+(?=\S)")
_SAYS = (
    r"(?:should |must |will |has to )?(?:prints?|outputs?|shows?|displays?|writes?|gives?|=>|->|→)"
)
_QUOTED = r"(?:`([^`\n]*)`|\"([^\"\n]*)\"|'([^'\n]*)')"
_INLINE = re.compile(rf"`([^`\n]+)`\s*{_SAYS}:?\s+{_QUOTED}(?!\s*(?:if|when|or|unless)\b)")
_GIVEN = re.compile(
    rf"\b(?:for|given|with) (?:the )?(?:standard )?input {_QUOTED},?\s*(?:it |the program )?"
    rf"{_SAYS}:?\s+{_QUOTED}(?!\s*(?:if|when|or|unless)\b)",
    re.IGNORECASE,
)
_RUNNERS = {"python", "python3", "perl", "./", "go", "cargo"}
_SPEAKERS = {"echo", "printf"}
_UNSAFE = re.compile(r"[<>&;*]|\$\(|`|\.\.\.|…")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The example runs that a task gives; two that contradict each other are left out and told."""

    commands: tuple[Command, ...] = ()
    contradictions: tuple[tuple[Command, Command], ...] = ()


def read_command_examples(text: str) -> Runs:
    """The example runs of a command in a task's text."""
    text = text[:LONGEST_TEXT]
    found = dict.fromkeys([*_transcripts(text), *_inline(text), *_given(text)])
    commands = list(found)[:MOST_EXAMPLES]
    clashes = tuple(
        (one, other)
        for place, one in enumerate(commands)
        for other in commands[place + 1 :]
        if (one.args, one.stdin) == (other.args, other.stdin) and one.stdout != other.stdout
    )
    wrong = {command for pair in clashes for command in pair}
    kept = tuple(command for command in commands if command not in wrong)
    return Runs(commands=kept, contradictions=clashes)


def _transcripts(text: str) -> Iterator[Command]:
    """Example runs that a task writes as `$ tool 2 3` with the output on the lines below."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        prompt = _PROMPT.match(line)
        if prompt is None:
            continue
        margin = len(line) - len(line.lstrip())
        below: list[str] = []
        for each in lines[place + 1 :]:
            if not each.strip() or each.strip().startswith("```") or _PROMPT.match(each):
                break
            below.append(each[margin:] if not each[:margin].strip() else each)
        command = _command(line[prompt.end() :], "\n".join(below))
        if command is not None and below:
            yield command


def _inline(text: str) -> Iterator[Command]:
    """Example runs that a task writes in a sentence: `tool 2 3` prints `5`."""
    for match in _INLINE.finditer(text):
        command = _command(match[1], _one(match.groups()[1:]))
        if command is not None and (command.args or command.stdin):
            yield command


def _given(text: str) -> Iterator[Command]:
    """Example runs that a task writes as: for the input `a b` it prints `2`."""
    for match in _GIVEN.finditer(text):
        groups = match.groups()
        stdin = _one(groups[:3]).replace("\\n", "\n")
        yield Command(stdin=f"{stdin}\n", stdout=_one(groups[3:]).replace("\\n", "\n"))


def _one(groups: tuple[str | None, ...]) -> str:
    return next((each for each in groups if each is not None), "")


def _command(line: str, out: str) -> Command | None:
    """The run that a shell line means, perhaps with a pipe; None where it is not one program."""
    speaking, _, running = line.rpartition("|")
    if _UNSAFE.search(_without_quotes(line)) or _UNSAFE.search(out):
        return None
    try:
        words, said = shlex.split(running), shlex.split(speaking)
    except ValueError:
        return None
    while words and (words[0] in _RUNNERS or words[0] == "run"):
        words = words[1:]
    stdin = _said(said)
    if not words or stdin is None:
        return None
    return Command(args=tuple(words[1:]), stdin=stdin, stdout=printed(out))


def _said(words: list[str]) -> str | None:
    """The text that an `echo` or `printf` command writes; None for any other command."""
    if not words:
        return ""
    if words[0] not in _SPEAKERS or any("|" in word for word in words):
        return None
    plain = words[0] == "echo" and words[1:2] not in (["-n"], ["-e"], ["-ne"])
    if plain:
        return " ".join(words[1:]) + "\n"
    told = [word for word in words[1:] if word not in ("-n", "-e", "-ne")]
    if len(told) != 1 or "%" in told[0]:
        return None
    ended = "" if words[0] == "printf" or "n" in words[1] else "\n"
    return told[0].replace("\\n", "\n").replace("\\t", "\t") + ended


def _without_quotes(line: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
