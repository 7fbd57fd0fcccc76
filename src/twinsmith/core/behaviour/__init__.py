"""How models behave: figures, how confidence held, what drifted and why."""
