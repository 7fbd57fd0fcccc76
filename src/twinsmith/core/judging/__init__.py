"""Which candidate to trust, and what is wrong with it besides its results."""
