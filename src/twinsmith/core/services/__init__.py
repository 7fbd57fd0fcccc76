"""Services: what they offer over HTTP, how they are framed and checked."""
