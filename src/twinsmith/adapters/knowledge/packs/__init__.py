"""Documentation that comes with what is installed here, as passages."""
