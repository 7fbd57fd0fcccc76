"""The flow of a task through all stages, in order; it knows ports, never adapters."""
