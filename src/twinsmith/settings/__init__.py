"""Settings: documented defaults, one file, the environment; each value knows where it came from."""

from twinsmith.settings.loading import (
    ALERT_PREFIX,
    FILE_NAME,
    Settings,
    documented_defaults,
    load,
    overlaid,
    values_by_key,
)
from twinsmith.settings.values import Values

__all__ = [
    "ALERT_PREFIX",
    "FILE_NAME",
    "Settings",
    "Values",
    "documented_defaults",
    "load",
    "overlaid",
    "values_by_key",
]
