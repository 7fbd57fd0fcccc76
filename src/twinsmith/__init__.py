"""One sentence in; a tested, running, watched and self-healing program out."""

__version__ = "0.1.0"
