"""Rules for a service that is written as a whole, without a frame, in any language."""

from twinsmith.core.planning.contract import Contract

_RULES = """- Use the standard library of {language} only, one file.
- Listen on 127.0.0.1, on the port that the environment variable PORT names; answer until stopped.
- Requests come at the same time: guard what they share. Keep data in memory.
- Replies are JSON with Content-Type application/json unless a route says text or HTML; an error is
  {{"error": "what is wrong"}}.
- 400 where the body is no JSON object, lacks a field, or has one that is empty or of another type.
- 404 where there is no such path or item, 405 for another method. Nothing sent may end the program.
- Read as much of the body as Content-Length says, at most 1 MB, else 413."""
_ACCOUNT_RULES = """
- Passwords are kept as a random salt and a slow hash (many rounds of SHA-256), and never logged.
- Tokens are 32 random bytes as hexadecimal digits, kept in memory with who they belong to.
- 401 for a wrong name or password and for a missing or unknown token; 409 where a name is taken."""


def plain_rules(contract: Contract, language: str) -> str:
    """The rules that a whole service has to keep to, one line each."""
    rules = _RULES.format(language=language)
    return rules + _ACCOUNT_RULES if contract.accounts else rules
