"""What the flow needs from the outside world, and nothing more."""

from twinsmith.ports.alerting import Alerts, Courier, Postbox
from twinsmith.ports.building import Graph, Model, Retriever, Reviewer, Sandbox
from twinsmith.ports.delivering import (
    ActionQueue,
    Approvals,
    Apps,
    Overrides,
    Releases,
    Scanner,
    SecretBox,
    Visitor,
)
from twinsmith.ports.experiments import Experiments, Trials
from twinsmith.ports.operating import (
    Examiner,
    Gauge,
    Host,
    Images,
    Inventory,
    Meter,
    Proxy,
    Volumes,
)
from twinsmith.ports.people import Accounts, Answers, Desk, Identity, Keys, Questions, Sessions
from twinsmith.ports.running import (
    Clock,
    Durable,
    Journal,
    Leases,
    Messages,
    Outbox,
    Purse,
    Runs,
    Workflow,
)
from twinsmith.ports.scanning import Advisories
from twinsmith.ports.telemetry import Telemetry, Told
from twinsmith.ports.trying import Challengers, Forces, Registry
from twinsmith.ports.watching import Almanac, Incidents, Readings

__all__ = [
    "Accounts",
    "ActionQueue",
    "Advisories",
    "Alerts",
    "Almanac",
    "Answers",
    "Approvals",
    "Apps",
    "Challengers",
    "Clock",
    "Courier",
    "Desk",
    "Durable",
    "Examiner",
    "Experiments",
    "Forces",
    "Gauge",
    "Graph",
    "Host",
    "Identity",
    "Images",
    "Incidents",
    "Inventory",
    "Journal",
    "Keys",
    "Leases",
    "Messages",
    "Meter",
    "Model",
    "Outbox",
    "Overrides",
    "Postbox",
    "Proxy",
    "Purse",
    "Questions",
    "Readings",
    "Registry",
    "Releases",
    "Retriever",
    "Reviewer",
    "Runs",
    "Sandbox",
    "Scanner",
    "SecretBox",
    "Sessions",
    "Telemetry",
    "Told",
    "Trials",
    "Visitor",
    "Volumes",
    "Workflow",
]
