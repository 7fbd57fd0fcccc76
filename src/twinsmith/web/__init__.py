"""The API and the console: one application over the runs of a home, and who may do what with it."""
