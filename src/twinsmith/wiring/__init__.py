"""From settings to adapters: the one place that knows which of them a setting means."""
