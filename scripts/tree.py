"""The tree of files in docs/architecture.md, written anew from what git knows; notes stay.

python scripts/tree.py
"""

import subprocess
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "```tree\n", "```"
WIDTH = 110


def known() -> dict[str, list[str]]:
    """Names of files by their folder, `.py` left out; packages' own files are not worth a name."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    lines = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders: dict[str, list[str]] = {}
    for path in sorted(lines.splitlines()):
        folder, _, name = path.rpartition("/")
        if (ROOT / path).exists() and name != "__init__.py":
            folders.setdefault(folder, []).append(name.removesuffix(".py"))
    for folder in list(folders):
        parts = folder.split("/")
        for depth in range(len(parts)):
            folders.setdefault("/".join(parts[:depth]), [])
    return folders


def notes_in(block: str) -> dict[str, str]:
    """What stands behind a `#`, by folder."""
    notes: dict[str, str] = {}
    above: list[str] = []
    for line in block.splitlines():
        text, _, note = line.partition("#")
        depth = (len(text) - len(text.lstrip())) // 2
        words = text.split()
        if words and words[0].endswith("/"):
            above = [*above[:depth], words[0].rstrip("/")]
            if note.strip():
                notes["/".join(above)] = note.strip()
    return notes


def tree(folders: dict[str, list[str]], notes: dict[str, str]) -> str:
    """Every folder on a line of its own with its note, its files below."""
    lines = textwrap.wrap(" ".join(folders[""]), WIDTH, break_on_hyphens=False)
    for folder in sorted(name for name in folders if name):
        indent = "  " * folder.count("/")
        note = f"  # {notes[folder]}" if folder in notes else ""
        lines.append(f"{indent}{folder.rpartition('/')[2]}/{note}")
        inside = " ".join(folders[folder])
        lines += textwrap.wrap(
            inside,
            WIDTH,
            initial_indent=f"{indent}    ",
            subsequent_indent=f"{indent}    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Put the tree in its place."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    block, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{tree(known(), notes_in(block))}{END}{tail}")


if __name__ == "__main__":
    main()
