"""The words that truth is written in, as Python text: nothing of it runs here."""

COMMAND_WORDS = '''
import re


def file(name, text):
    """A file that a command is given, by its path."""
    with open("/tmp/" + name, "w", encoding="utf-8", newline="") as made:
        made.write(text)
    return "/tmp/" + name


def told(ran, *lines):
    """It ended well and printed these lines; white space at their ends does not matter."""
    assert ran.exit_code == 0, f"exit code {ran.exit_code}: {ran.stderr[:300]!r}"
    printed = [line.rstrip() for line in ran.stdout.strip("\\n").split("\\n")]
    assert printed == list(lines), f"printed {ran.stdout[:500]!r}, want {lines!r}"


def failed(ran, *codes):
    """It ended with one of these exit codes, and said why where errors are said."""
    assert ran.exit_code in codes, f"exit code {ran.exit_code}, want {codes}; {ran.stdout[:200]!r}"
    assert ran.stderr.strip(), "nothing was said on standard error"
    assert not re.search("Traceback|panicked|goroutine", ran.stderr), ran.stderr[-300:]


def line_with(text, *words):
    """Some line has all the words, as words."""
    for line in text.splitlines():
        marks = [rf"(?<![\\w/.]){re.escape(str(word))}(?![\\w/]|\\.\\d)" for word in words]
        if all(re.search(mark, line) for mark in marks):
            return
    raise AssertionError(f"no line with {words!r} in {text[:500]!r}")
'''

SERVICE_WORDS = '''
import json
from urllib.parse import quote, urlencode

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TOKENS = ("token", "access_token", "accessToken", "auth_token", "jwt", "session_token", "session")
ROUTES = {}


def form(**fields):
    return urlencode(fields)


def status(reply, *wanted):
    assert reply.status in wanted, f"want {' or '.join(map(str, wanted))}"


def good(reply):
    assert 200 <= reply.status < 300, "want 200 to 299"


def refused(reply):
    assert 400 <= reply.status < 500, "want 400 to 499"


def rows(reply):
    """The list in a reply, or the first one that it holds."""
    good(reply)
    held = json.loads(reply.text)
    if isinstance(held, dict):
        held = next((value for value in held.values() if isinstance(value, list)), None)
    assert isinstance(held, list), "want a list"
    return held


def leaves(reply):
    """Every value in a good reply, however deep it lies."""
    good(reply)
    try:
        found, todo = [], [json.loads(reply.text)]
    except ValueError:
        return [reply.text]
    while todo:
        value = todo.pop()
        if isinstance(value, (dict, list)):
            todo += value.values() if isinstance(value, dict) else value
        else:
            found.append(value)
    return found


def objects(reply):
    try:
        todo = [json.loads(reply.text)]
    except ValueError:
        todo = []
    while todo:
        value = todo.pop(0)
        if isinstance(value, (dict, list)):
            todo += value.values() if isinstance(value, dict) else value
        if isinstance(value, dict):
            yield value


def id_of(reply):
    """What a thing that was made goes by."""
    good(reply)
    for each in objects(reply):
        named = [name for name in each if name.lower().endswith(("id", "key", "code"))]
        for name in sorted(named, key=lambda name: (name.lower() != "id", len(name))):
            if isinstance(each[name], (str, int)):
                return each[name]
    if reply.headers.get("Location"):
        return reply.headers["Location"].rstrip("/").rpartition("/")[2]
    text = reply.text.strip().strip('"')
    assert text and len(text) < 80 and " " not in text, "no id in the reply"
    return text


def at(time):
    return f"2030-05-01T{time}"


def ask(what, token=None, **values):
    """Something that the service was to offer, wherever it has that."""
    assert what in ROUTES, f"no route for: {what}"
    route = ROUTES[what]
    path, query, body = route["path"], {}, {}
    given = [(route["fields"][name], name, value) for name, value in values.items()]
    others = [(each, "", each["value"]) for each in route["others"]]
    if "user" in values:
        # A second address or name of somebody who signs up is nobody else's either.
        others = [(each, "user" if "mail" in each["name"].lower() else "", values["user"])
                  if isinstance(each["value"], str) else (each, name, value)
                  for each, name, value in others]
    for field, name, value in others + given:
        if field["place"] == "path":
            path = path.replace("{" + field["name"] + "}", quote(str(value), safe=""))
        elif field["place"] == "query":
            query[field["name"]] = value
        else:
            body[field["name"]] = mail(field["name"], value) if name == "user" else value
    path += "?" + urlencode(query) if query else ""
    headers = {"Authorization": "Bearer " + token} if token else {}
    return http(route["method"], path, json=body or None, headers=headers)


def mail(name, user):
    return f"{user}@example.com" if "mail" in name.lower() else user


def member(user):
    """The token of somebody who has signed up and logged in."""
    word = "Right!7-word"
    good(ask("sign up", user=user, password=word))
    reply = ask("log in", user=user, password=word)
    good(reply)
    for name in TOKENS:
        for each in objects(reply):
            if isinstance(each.get(name), str):
                return each[name]
    raise AssertionError(f"no token in {reply.text[:300]!r}")
'''
