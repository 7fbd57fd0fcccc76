"""Frozen values and pure functions; the standard library only."""
