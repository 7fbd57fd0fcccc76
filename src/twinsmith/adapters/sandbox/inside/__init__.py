"""The code that runs inside the sandbox: only the standard library, nothing of twinsmith.

Every import here is paid at each start of a sandbox, so heavy modules of the standard library are
avoided (`json` and `signal` alone would double the start), imported where they are needed, or
taken from below: `posix` is what `os` is made of.
"""
