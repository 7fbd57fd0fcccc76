"""Where traces and figures go: a table, collectors, memory."""
