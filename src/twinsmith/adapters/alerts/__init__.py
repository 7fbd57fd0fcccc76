"""Alerts: a table that keeps them, a courier that brings them, and the fakes of both."""
