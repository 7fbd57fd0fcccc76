"""What was spent: in a table of SQLite or PostgreSQL, or in a dictionary."""
