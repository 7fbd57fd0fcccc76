"""Names of programs that are made to do harm; no such program is built."""

import re

HARMFUL = frozenset(
    {
        "backdoor",
        "botnet",
        "computer virus",
        "cracking",
        "cyber attack",
        "data theft",
        "ddos",
        "ddos attack",
        "denial of service",
        "dos attack",
        "exploit",
        "fraud",
        "hacking",
        "identity theft",
        "keylogger",
        "malware",
        "password stealer",
        "phishing",
        "ransomware",
        "rootkit",
        "scam",
        "spying",
        "spyware",
        "stalkerware",
        "theft",
        "trojan",
        "trojan horse",
        "worm",
    }
)
"""Names of harmful programs, as whole names: `fraud detection` is another program."""


def harmful_name(reply: str) -> str:
    """The name of a harmful program in a reply; empty where the reply names none."""
    line = next(iter(reply.strip().splitlines()), "")
    plain = re.sub(r"[^a-z ]", "", line.lower().replace("-", " "))
    name = " ".join(plain.split()).removeprefix("a ").removeprefix("an ")
    return name if name in HARMFUL else ""
