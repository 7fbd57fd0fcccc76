"""Finding secrets in a text: known values, formats of tokens, values behind telling names."""
