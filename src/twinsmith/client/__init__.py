"""A typed client of a twinsmith server: `Client("https://…", key="tws_…").runs.submit(…)`."""

from twinsmith.client.client import Client

__all__ = ["Client"]
