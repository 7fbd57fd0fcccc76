"""Places where untrusted programs run, behind the `Sandbox` port."""
