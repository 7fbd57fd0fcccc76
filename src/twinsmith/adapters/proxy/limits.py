"""How much of a client and of a service any proxy puts up with."""

HEADER_BYTES = 64 * 1024
BODY_BYTES = 10_000_000
HEADER_SECONDS = 10
BODY_SECONDS = 60
"""From the first byte of a request to the last one of its body."""
IDLE_SECONDS = 120
"""Between two requests of one client."""
ANSWER_SECONDS = 120
"""Until a service begins to answer a request that it has."""
TRY_SECONDS = 2.0
"""As long as no connection comes about, a request waits for its service, or takes another of the
app's: a service that is started again is back within a second."""
TRY_AGAIN_SECONDS = 0.1
LOGGED_CHARACTERS = 1000
"""Of a request's path."""
LOG_MB = 1
LOGS_KEPT = 2
