"""Reading and mending replies: from a model's words to a program or a JSON object."""
