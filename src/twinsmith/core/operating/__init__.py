"""Programs that run somewhere: what they are made of, and how they are put in a container."""
