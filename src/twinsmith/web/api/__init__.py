"""The API, a module for each thing it is about."""
