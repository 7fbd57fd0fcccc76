"""The frame of programs: files that twinsmith puts beside what models write, as they are."""

from importlib.resources import files


def kit(name: str) -> str:
    """The text of one file of the kit."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
