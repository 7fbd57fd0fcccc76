"""Choosing the candidate to trust, and finding what is wrong with it besides its results."""
