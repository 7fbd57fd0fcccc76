"""People who act on runs: who they are and by which way they come."""
