"""From a finished program to one that serves."""
