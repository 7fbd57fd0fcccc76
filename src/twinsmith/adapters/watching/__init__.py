"""What was seen of apps, kept for a while."""
