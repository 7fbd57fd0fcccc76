"""Versions noted as they take part: what is shipped, what a job is worked on with, texts."""

import json

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.task import Job
from twinsmith.core.trying.versions import Version
from twinsmith.settings import Settings


def note_shipped(settings: Settings) -> None:
    """Keep what this twinsmith comes with: its templates, models on this machine, itself."""
    from twinsmith import __version__
    from twinsmith.flow.pipeline import PIPELINE_VERSION
    from twinsmith.prompts import shipped, version_of
    from twinsmith.wiring.models import file_versions
    from twinsmith.wiring.trying import file_hash, registry_of

    registry_of(settings).note(
        [
            *(
                Version(kind="prompt", name=name, version=version_of(text), text=text)
                for name, text in shipped().items()
            ),
            *(
                Version(
                    kind="model",
                    name=f"embedded:{name}",
                    version=version,
                    text=f"sha256:{file_hash(settings, name)}",
                )
                for name, version in file_versions(settings).items()
            ),
            Version(kind="twinsmith", name="twinsmith", version=__version__),
            Version(kind="pipeline", name="pipeline", version=str(PIPELINE_VERSION)),
        ],
        SystemClock().now(),
    )


def note_job(settings: Settings, job: Job) -> None:
    """Keep the settings that a job is worked on with."""
    from twinsmith.wiring.trying import hash_of, registry_of, settings_of

    values = settings_of(settings, job)
    text = json.dumps(values, sort_keys=True)
    version = Version(kind="settings", name="settings", version=hash_of(values), text=text)
    templates = [
        Version(kind="prompt", name=name, version=each) for name, each in job.arrangement.prompts
    ]
    registry_of(settings).note([version, *templates], SystemClock().now())


def kept_template(settings: Settings, name: str, text: str) -> str:
    """Keep a text that stands in for a template; its version."""
    from twinsmith.prompts import checked, version_of
    from twinsmith.wiring.trying import registry_of

    version = version_of(checked(name, text))
    made = Version(kind="prompt", name=name, version=version, text=text)
    registry_of(settings).note([made], SystemClock().now())
    return version
