"""What a machine has, who uses it, what is let in, and what is cleaned away: pure decisions."""
