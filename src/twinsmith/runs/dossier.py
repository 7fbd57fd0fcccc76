"""An incident as a folder for the person who decides: story, log, readings as plots, fixes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from twinsmith.core.operating.incident import Incident
from twinsmith.core.plot import Mark, Series, picture, svg
from twinsmith.runs.book import Book
from twinsmith.runs.health import figures

BEFORE_SECONDS = 120.0
MOST_MARKS = 12


def dossier_folder(book: Book, incident: Incident) -> Path:
    """The folder in which the dossier of an incident lies, once it was handed over."""
    return book.settings.home / "incidents" / incident.id


def story_of(incident: Incident) -> tuple[str, ...]:
    """The incident in a few lines: its timeline, what was tried, what it wrote last."""
    lines = [f"incident {incident.id}: {incident.kind} of release {incident.troubled}"]
    lines += [f"{_clock(step.at)} {step.did}" for step in incident.steps]
    for number, each in enumerate(incident.attempts, 1):
        cause = f"; believed cause: {each.cause}" if each.cause else ""
        lines.append(f"attempt {number} ({each.run}): {each.why or 'under way'}{cause}")
    lines += [f"failed: {each}" for each in incident.evidence.requests[:3]]
    return tuple(lines + [f"log: {line}" for line in incident.evidence.said[-5:]])


def told_of(book: Book, incident: Incident) -> tuple[str, ...]:
    """An incident as a person reads it at a terminal: its story, and where the rest of it lies."""
    folder = dossier_folder(book, incident)
    more = (f"all of it, with plots: {folder}",) if folder.exists() else ()
    return (*story_of(incident)[1:], *more)


def put_dossier(book: Book, incident: Incident, changes: Mapping[str, str]) -> Path:
    """Write the dossier of an incident; `changes` are the diffs of its attempts by their runs."""
    from twinsmith.adapters.drawing import png
    from twinsmith.wiring.watching import readings_of

    folder = dossier_folder(book, incident)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    since, until = incident.opened - BEFORE_SECONDS, incident.changed + BEFORE_SECONDS
    readings = readings_of(book.settings).listed(incident.app, since, until)
    rows = [
        Series(name=name, unit=unit, values=tuple(values))
        for name, values, unit in figures(readings)
    ]
    marks = [Mark(at=step.at, text=step.did) for step in incident.steps[:MOST_MARKS]]
    title = f"{incident.app}: {incident.kind} of release {incident.troubled}"
    drawn = picture(title, [each.at for each in readings], rows, marks)
    (folder / "readings.svg").write_text(svg(drawn), encoding="utf-8")
    (folder / "readings.png").write_bytes(png(drawn))
    (folder / "log.txt").write_text("\n".join(incident.evidence.said) + "\n", encoding="utf-8")
    (folder / "story.md").write_text(_markdown(incident), encoding="utf-8")
    for number, attempt in enumerate(incident.attempts, 1):
        if changes.get(attempt.run):
            path = folder / f"attempt-{number}.diff"
            path.write_text(changes[attempt.run] + "\n", encoding="utf-8")
    return folder


def _markdown(incident: Incident) -> str:
    lines = "\n".join(f"- {line}" for line in story_of(incident))
    return f"# Incident {incident.id}\n\n{lines}\n\n![readings](readings.png)\n"


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"
