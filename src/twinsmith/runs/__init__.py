"""Runs as people deal with them, without any screen: submit, follow, resume, cancel."""
