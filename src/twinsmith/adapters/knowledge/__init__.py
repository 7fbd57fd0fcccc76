"""Retrieval: what is known, cut into pieces, kept, and found again."""
