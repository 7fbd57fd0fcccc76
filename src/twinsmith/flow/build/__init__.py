"""The stages that turn a task into a judged program."""
