"""A dashboard for Grafana and rules for Prometheus, over the figures that `/metrics` gives."""

from importlib.resources import files
from pathlib import Path

NAMES = ("dashboard.json", "alerts.yml", "prometheus.yml")


def text_of(name: str) -> str:
    """One of the files."""
    return files("twinsmith.observing").joinpath(name).read_text(encoding="utf-8")


def written(folder: Path) -> tuple[Path, ...]:
    """Put all of them into a folder; where they are now."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in NAMES:
        path = folder / f"twinsmith-{name}"
        path.write_text(text_of(name), encoding="utf-8")
        made.append(path)
    return tuple(made)
