"""Remembers deliveries: apps, releases, the execution queue, overrides, secrets."""
