"""The README's commands, and what it shows of their output."""

import re

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()


def settled(text: str) -> str:
    """Output with what differs from run to run taken out."""
    text = re.sub(r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN", text)
    text = re.sub(r"\S*/runs/RUN/result", "FOLDER", text)
    text = re.sub(r"\d+(\.\d+)?", "N", text)
    return re.sub(r"[ \t]+", " ", text)


def outputs_in_readme() -> list[tuple[str, list[str]]]:
    """Each command shown in a console block, with the lines shown as its output."""
    pairs: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                pairs.append((line[2:], []))
            elif line.strip() and line.strip() != "…":
                pairs[-1][1].append(line)
    return pairs
