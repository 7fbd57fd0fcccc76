"""Services: the checks that try them over HTTP, and the rules that they keep."""
