"""Runs deployed programs: containers of an engine, or processes of this machine."""
