"""From settings to where traces and figures go, and where they are read back."""

from typing import TYPE_CHECKING

from twinsmith.flow.traced import UNTOLD
from twinsmith.settings import Settings
from twinsmith.wiring.shared import telemetry_url

if TYPE_CHECKING:
    from twinsmith.adapters.telemetry.otlp import OtlpTelemetry
    from twinsmith.adapters.telemetry.table import TelemetryTable
    from twinsmith.ports import Telemetry


def telemetry_of(settings: Settings, process: str) -> "Telemetry":
    """What a process tells its traces and figures to."""
    given = settings.values.telemetry
    collector = _collector_of(settings, process) if given.endpoint else None
    if not given.keep_hours and collector is None:
        return UNTOLD
    from twinsmith.adapters.telemetry.screened import ScreenedTelemetry

    told: Telemetry
    if given.keep_hours:
        from twinsmith.adapters.telemetry.embedded import EmbeddedTelemetry

        told = EmbeddedTelemetry(table_of(settings), hours=given.keep_hours, onward=collector)
    else:
        assert collector is not None
        told = collector
    return ScreenedTelemetry(told, settings.masking, prompts=given.prompts, share=given.sample)


def table_of(settings: Settings) -> "TelemetryTable":
    """What all processes of the database told."""
    from twinsmith.adapters.telemetry.table import TelemetryTable

    return TelemetryTable(telemetry_url(settings))


def _collector_of(settings: Settings, process: str) -> "OtlpTelemetry":
    from twinsmith import __version__
    from twinsmith.adapters.telemetry.otlp import Collector, OtlpTelemetry

    given = settings.values.telemetry
    collector = Collector(
        endpoint=given.endpoint, protocol=given.protocol, headers=settings.telemetry_headers
    )
    return OtlpTelemetry(collector, process=process, version=__version__)
