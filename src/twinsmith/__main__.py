"""`python -m twinsmith` is the `twinsmith` command."""

from twinsmith.cli.main import run

run()
