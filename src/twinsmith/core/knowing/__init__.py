"""What is known and what was learned, as values."""
