"""The job of a run as a file: what is needed to go on with it."""

import json
import os
from pathlib import Path

from twinsmith.adapters.durable.codec import from_json, to_json
from twinsmith.core.errors import EngineError
from twinsmith.core.task import Job

NAME = "job.json"


def keep_job(folder: Path, job: Job) -> None:
    """Write it aside, make it durable, move it into place."""
    path = folder / NAME
    aside = path.with_suffix(".new")
    with aside.open("w", encoding="utf-8") as file:
        json.dump(to_json(job, Job), file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)


def kept_job(folder: Path) -> Job:
    """The job of a run's folder; EngineError where it cannot be read."""
    path = folder / NAME
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")), Job)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"{path} cannot be read ({error.__class__.__name__}); start a new build"
        ) from error
