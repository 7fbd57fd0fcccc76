"""What happens to a task, in order; knows ports, never adapters."""
