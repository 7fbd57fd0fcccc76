"""One sentence in; a tested program out."""

__version__ = "0.1.0"
