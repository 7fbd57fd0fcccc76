"""Trouble with a running service in, checks out that may fail on it: the beginning of every fix.

Which inputs broke it nobody knows: the proxy tells a route at most. So the routes in question are
asked for everything that the contract allows and few think of, in several states of the store; or
are asked again and again while memory and open files are counted. A check that passes shows
nothing and is dropped; one that fails is what a fix has to pass.
"""

from collections.abc import Iterator

from twinsmith.core.execution import ProbeResult
from twinsmith.core.operating.alarm import AlarmKind
from twinsmith.core.operating.battery import battery
from twinsmith.core.operating.hunt_words import WORDS
from twinsmith.core.operating.trouble import Trouble
from twinsmith.core.planning.contract import Contract, Operation
from twinsmith.core.probe import Probe, Probes

STUMBLES: frozenset[AlarmKind] = frozenset(
    {"errors", "crash", "crash loop", "down", "hang", "probe failing"}
)
"""What an input may bring about; everything else that is hunted grows."""
MB = 1 << 20
LEAST_BYTES, LEAST_FILES = 6 * MB, 24
"""What a healthy service may hold more after some requests."""
BYTES_EACH, FILES_EACH = 64 * 1024, 1.0
"""What is taken for a leak of each request where nobody could measure it."""


_FOUND = ("it answered ", "it holds ")
"""What the words of hunts say when they find something."""


def hunts(contract: Contract, trouble: Trouble) -> Probes:
    """The checks that may fail on a service in trouble; none where nothing is known to look for."""
    routes = suspected(contract, trouble)
    checks = tuple(check for route in routes for check in _on_route(route, trouble))
    return Probes(checks=checks, setup=_setup(contract)) if checks else Probes()


def suspected(contract: Contract, trouble: Trouble) -> tuple[Operation, ...]:
    """The routes that failed, or whose functions a traceback names; all where nothing tells."""
    failed = [
        each
        for asked in trouble.evidence.requests
        for each in contract.pieces
        if serves(each, asked)
    ]
    named = [each for name in trouble.names for each in contract.pieces if each.function == name]
    return tuple(dict.fromkeys([*named, *failed])) or contract.pieces


def shows_trouble(result: ProbeResult) -> bool:
    """Whether a hunt found what it looked for, and did not fail by a mistake of its own."""
    return result.outcome != "passed" and any(words in result.detail for words in _FOUND)


def serves(operation: Operation, asked: str) -> bool:
    """Whether a route answers a request such as `GET /books/7`."""
    method, _, path = asked.partition(" ")
    wanted = operation.path.strip("/").split("/")
    given = path.partition("?")[0].strip("/").split("/")
    return (
        method == operation.method
        and len(wanted) == len(given)
        and all(
            one == other or one.startswith("{") for one, other in zip(wanted, given, strict=True)
        )
    )


def _setup(contract: Contract) -> str:
    """The words of hunts in a world of their own: a service may have functions of such names."""
    words = battery(contract).setup + WORDS
    return f"HUNT = dict(globals())\nexec({words!r}, HUNT)\n"


def _on_route(route: Operation, trouble: Trouble) -> Iterator[Probe]:
    what = f"{route.method} {route.path}"
    if trouble.kind in STUMBLES:
        yield _check(
            f"{what} answers whatever is asked", f"HUNT['never_stumbles']({what!r})", route
        )
    each = trouble.evidence.growth
    if trouble.kind == "memory leak":
        # Only what is plain is a proof: a third of what was seen, and no less than the least.
        line = f"HUNT['keeps_nothing']({what!r}, 'resident', {each or BYTES_EACH!r}, {LEAST_BYTES})"
        yield _check(f"{what} keeps no memory", line, route)
    if trouble.kind == "descriptor leak":
        line = (
            f"HUNT['keeps_nothing']({what!r}, 'open_files', {each or FILES_EACH!r}, {LEAST_FILES})"
        )
        yield _check(f"{what} keeps no files open", line, route)


def _check(name: str, source: str, route: Operation) -> Probe:
    return Probe(name=name, origin="plan", source=source, functions=(route.function,), fresh=True)
