"""Where versions, what is in force, and trials of them are kept."""
