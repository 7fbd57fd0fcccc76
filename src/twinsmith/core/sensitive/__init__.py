"""What in a text is a secret: known values, formats of tokens, values behind telling names."""
