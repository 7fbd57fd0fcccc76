"""Trying one way of working beside another, and deciding between them."""
