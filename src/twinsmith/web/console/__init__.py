"""The console, a module for each page."""
