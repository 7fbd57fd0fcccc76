"""The words in which trouble is looked for in a service, as Python text: nothing of it runs here.

They stand on the words of the exploit battery (`core/operating/battery_words.py`).
"""

WORDS = r'''
from http.client import HTTPConnection
from urllib.parse import urlencode

LOAD_SECONDS = 6.0
ODD = {
    "string": (" ", "0", "-1", "None", "x" * 5000, "\u00e9\u4e2d\U0001f600", "a/b?c=d&e",
               "%s {} \\"),
    "integer": (0, -1, 1, 2 ** 31, -(2 ** 53)),
    "number": (0, 0.0, -1.5, 1e-9, 1e300),
    "boolean": (True, False),
    "list": ([], [0], ["", "a"], [[]]),
    "object": ({}, {"a": None}, {"": {}}),
}
PLACES_ODD = ("0", "-1", "999999999", "no-such-thing", "%20")


def firm(goal, reply, path):
    """Whatever was sent, the service answers, and says itself what is wrong with it."""
    said = reply.status or "nothing at all"
    assert reply.status and reply.status < 500, (
        f"it answered {said} to {goal['method']} {path}; sent {sent!r:.300}"
    )


def odd_values(goal):
    """One value changed at a time, to something that is allowed and that few think of."""
    for name, kind, example, required in goal["takes"]:
        for value in ODD[kind]:
            yield {name: value}


def never_stumbles(what):
    """A route that was asked for anything that its contract allows, whatever is kept so far."""
    goal, token = aim(what), entered(new("una"))
    nowhere = re.sub(r"{\w+}", "1", goal["path"])
    firm(goal, send(goal, token, nowhere), nowhere)
    stands(goal, token)
    for maker in [each for each in AIMS if each["method"] == "POST" and not each["part"]]:
        for values in odd_values(maker):
            send(maker, token, place(maker, token), values)
        stands(goal, token)


def stands(goal, token):
    """A route, asked for what is there and for what is not, for usual and for odd values."""
    path = place(goal, token)
    for _ in range(2):
        firm(goal, send(goal, token, path), path)
    for values in odd_values(goal):
        there = place(goal, token)
        firm(goal, send(goal, token, there, values), there)
    for part in PLACES_ODD if goal["parameters"] else ():
        path = re.sub(r"{\w+}", part, goal["path"])
        firm(goal, send(goal, token, path), path)


def resident():
    """Bytes that every other process here holds for itself alone."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/statm") as file:
                    _, held, shared, *_ = map(int, file.read().split())
                total += (held - shared) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, ValueError):
                continue
    return total


def open_files():
    """The open files of the process here that has the most of them."""
    most = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                most = max(most, len(os.listdir(f"/proc/{name}/fd")))
            except OSError:
                continue
    return most


def quietly(goal, token, path, count):
    """A route asked again and again without a word in the transcript; how often it answered."""
    until = time.monotonic() + LOAD_SECONDS / 2
    for number in range(count):
        if time.monotonic() > until:
            return number
        values = filled(goal, new("ivy"))
        headers, body, where = dict(bearer(token)) if token else {}, None, path
        if goal["accepts"] == "query" and values:
            where += "?" + urlencode(values)
        elif goal["accepts"] == "form" and values:
            headers["Content-Type"], body = "application/x-www-form-urlencoded", urlencode(values)
        elif goal["accepts"] == "text" and values:
            body = str(next(iter(values.values())))
        elif values:
            headers["Content-Type"], body = "application/json", json.dumps(values)
        line = HTTPConnection("127.0.0.1", http.port, timeout=5)
        try:
            line.request(goal["method"], where, body, headers)
            line.getresponse().read()
        finally:
            line.close()
    return count


def keeps_nothing(what, held, each, least):
    """A route that is asked again and again: what the service holds does not grow with it."""
    measure = {"resident": resident, "open_files": open_files}[held]
    goal, token = aim(what), entered(new("una"))
    path = place(goal, token)
    count = int(min(4000, max(40, 4 * least / each)))
    quietly(goal, token, path, max(20, count // 4))
    before = measure()
    done = quietly(goal, token, path, count)
    grown = measure() - before
    allowed = max(least, each * done / 3)
    assert grown < allowed, (
        f"it holds {grown} more {'bytes' if held == 'resident' else 'open files'} after {done} "
        f"requests to {what}"
    )
'''
