"""From the words of a model to a program or an object: reading and mending."""
