"""The execution log behind the `Journal` port."""
