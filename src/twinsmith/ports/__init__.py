"""What the flow needs from the outside world, and nothing more."""

from twinsmith.ports.building import Graph, Model, Retriever, Reviewer, Sandbox
from twinsmith.ports.operating import Inventory
from twinsmith.ports.people import Desk, Questions
from twinsmith.ports.running import (
    Clock,
    Durable,
    Journal,
    Leases,
    Messages,
    Outbox,
    Runs,
    Workflow,
)

__all__ = [
    "Clock",
    "Desk",
    "Durable",
    "Graph",
    "Inventory",
    "Journal",
    "Leases",
    "Messages",
    "Model",
    "Outbox",
    "Questions",
    "Retriever",
    "Reviewer",
    "Runs",
    "Sandbox",
    "Workflow",
]
