"""Names of programs that are made to do harm: what is called so is not built."""

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
"""Whole names only: `fraud detection` and `worm simulation` are other programs."""


def harmful_name(reply: str) -> str:
    """The name in a reply, where it is one of a program that does harm; nothing where it is not."""
    line = next(iter(reply.strip().splitlines()), "")
    plain = re.sub(r"[^a-z ]", "", line.lower().replace("-", " "))
    name = " ".join(plain.split()).removeprefix("a ").removeprefix("an ")
    return name if name in HARMFUL else ""
