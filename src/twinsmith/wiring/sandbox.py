"""Which sandbox runs programs, and what they may use, by the settings."""

from typing import TYPE_CHECKING

from twinsmith.core.execution import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinsmith.adapters.sandbox.cell import Walls
    from twinsmith.adapters.sandbox.runner import IsolatedSandbox
    from twinsmith.ports import Reviewer, Sandbox
    from twinsmith.settings import Settings


def sandbox_of(
    settings: "Settings", tell: "Callable[[str], None]" = lambda _line: None
) -> "IsolatedSandbox":
    """The sandbox that the settings choose; it is tried by its `isolation`."""
    from twinsmith.adapters.sandbox.layers import Layers
    from twinsmith.adapters.sandbox.runner import IsolatedSandbox

    return IsolatedSandbox(_walls(settings), Layers(settings.sandbox_folder / "layers", tell))


def reviewer_of(settings: "Settings", sandbox: "IsolatedSandbox") -> "Reviewer":
    """The tools that read programs, unless the settings want none."""
    if not settings.values.quality.review:
        from twinsmith.adapters.sandbox.review_canned import CannedReviewer

        return CannedReviewer()
    from twinsmith.adapters.sandbox.review import SandboxReviewer

    return SandboxReviewer(sandbox)


def sanitized_of(settings: "Settings", sandbox: "IsolatedSandbox") -> "Sandbox":
    """The sandbox for builds with sanitizers, unless the settings want none."""
    if not settings.values.quality.sanitize:
        from twinsmith.adapters.sandbox.canned import EmptySandbox

        return EmptySandbox()
    from twinsmith.adapters.sandbox.review_sanitized import SanitizedSandbox

    return SanitizedSandbox(sandbox)


def limits_of(settings: "Settings") -> Limits:
    """What settings allow one execution."""
    given = settings.values.sandbox
    return Limits(
        probe_seconds=given.probe_seconds,
        cpu_seconds=given.cpu_seconds,
        memory_mb=given.memory_mb,
    )


def _walls(settings: "Settings") -> "Walls":
    given = settings.values.sandbox
    if given.backend == "bubblewrap":
        from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap

        return Bubblewrap()
    from twinsmith.adapters.sandbox.container import ContainerWalls

    folder = settings.sandbox_folder / "containers"
    return ContainerWalls(given.backend, folder, host=given.engine_host, runtime=given.runtime)
