"""The words that attacks on a service are written in, as Python text: nothing of it runs here.

They stand on the words of its checks (`core/services/http_words.py`) and go by the contract alone.
Whoever they ask may hold data of others, so each makes users and things under names of its own.
"""

WORDS = r'''
import re, secrets, socket, time, types
from http.client import HTTPException
from urllib.parse import quote, unquote

AIMS = []
ENTERING = ()
SILENT = types.SimpleNamespace(status=0, text="", headers={})
PAIRS = (*TWINS, ("z') OR ('1'='1", "z') OR ('1'='2"))
# With something that is there, so that it is found or not.
ALSO = (("z' AND '1'='1", "z' AND '1'='2"), ("z AND 1=1", "z AND 1=2"))
FILES = ("proc/self/status", "etc/passwd")
OWN_FILES = ()
UP = ("../" * 9 + "{}", "/{}", "....//" * 9 + "{}", "..%2f" * 9 + "{}", "%2e%2e/" * 9 + "{}",
      "%252e%252e%252f" * 9 + "{}", "..\\" * 9 + "{}", "file:///{}", "../" * 9 + "{}\0.txt")
# As they are, or within JSON.
OF_MACHINE = re.compile(r"root:\w*:0:0:|VmPeak:|Tgid:")
OF_PROGRAM = re.compile(r'(?:\A|["\n]|\\n)(?:(?:\x7f|\\u007f)ELF|SQLite format 3|#!/|\[core\]'
                        r'|(?:import|from|package|use) \w|#include |[A-Z_]+_KEY=)')
PRODUCT = "51724863"
CODE = ("{{7191*7193}}", "${7191*7193}", "<%= 7191*7193 %>", "#{7191*7193}",
        "; expr 7191 \\* 7193", "| expr 7191 \\* 7193 #", "$(expr 7191 \\* 7193)",
        "`expr 7191 \\* 7193`", "__import__('math').prod([7191, 7193])", "do {7191*7193}",
        "(() => 7191*7193)()")


def sample(name, kind, who, example=None, usual=sample):
    return who if name in ENTERING and "mail" not in name else usual(name, kind, who, example)


def aim(what):
    return next(each for each in AIMS if each["what"] == what)


def new(word):
    return word + secrets.token_hex(4)


def tried(method, path, **more):
    """The answer to a request; one without a status where the line was cut."""
    try:
        return http(method, path, **more)
    except (OSError, HTTPException):
        return SILENT


def filled(goal, who):
    """Values for all that a route needs; a password only where somebody registers or logs in."""
    account = goal["part"] in ("register", "login")
    return {
        name: sample(name, kind, who, example)
        if account or "pass" not in name.lower() else f"{who} {name}"
        for name, kind, example, required in goal["takes"] if required
    }


def send(goal, token, path, changed={}, headers=None, who=""):
    global sent
    values = {**filled(goal, who or new("ned")), **changed}
    sent = changed or values
    headers = headers if headers is not None else bearer(token) if token else {}
    way = {goal["accepts"]: values} if values else {}
    if "text" in way:
        way = {"body": str(next(iter(values.values()))).encode(errors="replace")}
    return tried(goal["method"], path, headers=headers, **way)


def joined(part, who, **changed):
    """The answer to somebody who registers or logs in."""
    goal = next(each for each in AIMS if each["part"] == part)
    secret = next(name for name in goal["names"] if "pass" in name.lower())
    changed = {secret if name == "password" else name: text for name, text in changed.items()}
    return send(goal, None, goal["path"], changed, who=who)


def entered(who, **changed):
    """The token of a new user; nothing where nobody can log in."""
    if not ENTERING:
        return None
    good(joined("register", who, **changed))
    return token_of(joined("login", who, **changed))


def place(goal, token):
    """The path of a route; what it names is made first, where the service makes such things."""
    return at(goal, named_in(goal, token))


def at(goal, parts):
    return re.sub(r"{(\w+)}", lambda each: parts[each[1]], goal["path"])


def named_in(goal, token):
    """What a route names in its path: things that are there, made by who asks where they can be."""
    parts, path, shape = {}, "", ""
    for step in goal["path"].split("/")[1:]:
        for name in re.findall(r"{(\w+)}", step):
            parts[name] = quote(made(shape, path, name, token), safe="")
        path += "/" + re.sub(r"{(\w+)}", lambda each: parts[each[1]], step)
        shape += "/" + re.sub(r"{\w+}", "{}", step)
    return parts


def made(shape, path, name, token):
    """What a new thing is found by; 1 where nobody makes one there."""
    makers = [goal for goal in AIMS if (goal["method"], goal["shape"]) == ("POST", shape)]
    for goal in makers[:1]:
        reply = send(goal, token, path)
        if reply.status == 409:
            texts = {n: f"{v} {new('n')}" for n, v in sent.items() if isinstance(v, str)}
            reply = send(goal, token, path, texts)
        names = (name, "id", f"{name}_id", "code", "short_code", "key", *goal["gives"])
        which = found(reply, names) if reply.text[:1] in ("{", "[") else None
        which = sent.get(name) if which is None else which
        return "1" if which is None else str(which).rstrip("/").rpartition("/")[2]
    return "1"


def seen(goal, path, token):
    """What is read of one thing; only its status where that is never the same twice."""
    readers = [each for each in AIMS if (each["method"], each["shape"]) == ("GET", goal["shape"])]
    for each in readers[:1] if goal["parameters"] else []:
        first, again = (send(each, token, path) for _ in range(2))
        return (first.status, first.text) if first.text == again.text else (first.status, "")
    return None


def spots(goal, token):
    """Ways to hand a text to a route, each with one that it takes: in its path, in its values."""
    parts = named_in(goal, token)
    for name, there in parts.items():
        yield unquote(there), lambda text, name=name: send(
            goal, token, at(goal, {**parts, name: quote(text, safe="", errors="replace")}))
    for name, kind, example, _ in goal["takes"]:
        yield str(sample(name, kind, new("ned"), example)), lambda text, name=name: send(
            goal, token, at(goal, parts), {name: text})


def steady(reply, usual):
    """A hostile text does not make a route stumble that takes a harmless one."""
    stumbles = [not each.status or each.status >= 500 for each in (reply, usual)]
    assert stumbles != [True, False], f"it stumbles; sent {sent!r:.200}"


def reads_no_sql(what, token):
    """SQL is a text like another: true or false, it changes neither the answer nor what is kept."""
    goal = aim(what)
    kept = place(goal, token)
    before = seen(goal, kept, token)
    for there, hand in spots(goal, token):
        usual = hand(new("zed"))
        words = [new("z") for _ in PAIRS] + [there for _ in ALSO]
        for (true, false), word in zip((*PAIRS, *ALSO), words):
            texts = true.replace("z", word), false.replace("z", word)
            like_another(hand, usual, *texts, sized=goal["method"] == "GET")
        one, two = hand(new("z'z")), hand(new("z''z"))
        steady(one, usual)
        assert one.status == two.status, f"one quote and two differ; sent {sent!r:.200}"
    assert seen(goal, kept, token) == before, "what was there has changed or is gone"


def like_another(hand, usual, true, false, sized):
    """What is true as SQL is answered like what is false, where answers stay the same at all."""
    replies = [hand(text) for text in (false, true, true)[:3 if sized else 2]]
    for reply in replies:
        steady(reply, usual)
    other, first, again = map(size_of, (*replies, replies[-1])[:3])
    if not sized:
        other, first, again = other[0], first[0], first[0]
    assert first != again or first == other, f"sent {sent!r:.200}, and it is read as SQL"


def reads_no_files(what, token):
    goal = aim(what)
    parts = named_in(goal, token)
    # Whoever registers is waited for: a password is hashed.
    texts = [way.format(file) for way in UP for file in FILES[:1 if goal["part"] else None]]
    for name in parts:
        for text in texts:
            outside(send(goal, token, at(goal, {**parts, name: text})))
    for _, hand in spots(goal, token):
        for text in texts:
            outside(hand(text))


def outside(reply):
    there = OF_MACHINE.search(reply.text)
    assert not there, f"a file of the machine: {there and there[0]}"


def offers_no_files():
    """Nobody reads the machine's files or the program's own by a path that was never offered."""
    roots = {"/", "/static/", "/files/"} | {f"/{goal['path'].split('/')[1]}/" for goal in AIMS}
    for root in sorted(root for root in roots if "{" not in root):
        for text in (way.format(file) for way in UP[:6] for file in FILES):
            outside(tried("GET", root + text))
        for name in OWN_FILES:
            reply = tried("GET", root + name)
            there = OF_PROGRAM.search(reply.text) if reply.status // 100 == 2 else None
            assert not there, f"a file of the program: {there and there[0]!r}"


def runs_no_code(what, token):
    for _, hand in spots(aim(what), token):
        for text in CODE:
            assert PRODUCT not in hand(text).text, f"it ran what was sent: {text!r}"


def logs_nobody_in(name):
    """SQL in the place of a name or a password opens nothing."""
    who = new("sam")
    entered(who)
    for text in (*SQL, *aimed(name, who)):
        refused(joined("login", who, **{name: text}))
        refused(joined("login", who, password=text))
    good(joined("login", who))


def strangers(who, token):
    """Headers of those who were never let in, each with what they are."""
    yield {}, "no token"
    yield from (({"Authorization": text}, text[:40]) for text in GARBLED)
    if token:
        data = who.encode()
        made_up = [who, base64.b64encode(data).decode(), hashlib.md5(data).hexdigest(),
                   hashlib.sha256(data).hexdigest(), secrets.token_hex(len(token) // 2 + 1)]
        yield from ((bearer(text), "a made-up token") for text in made_up)
        yield from ((bearer(text), "a changed token") for text in (token[:-5], *changed(token)))
        yield from ((bearer(text), "an unsigned token") for text in unsigned(token))
        yield from ((bearer(text), f"a token signed with {key!r}") for key, text in guessed(token))
        yield from ((bearer(text), "a token signed by somebody else") for text in foreign(token))


def foreign(token):
    if not parts_of(token):
        return []
    head, claims = parts_of(token)
    text = packed({**head, "alg": "HS256"}, claims)
    keys = (secrets.token_bytes(32), token.rpartition(".")[2].encode())
    return [f"{text}.{unpadded(hmac.new(key, text.encode(), 'sha256').digest())}" for key in keys]


def keeps_strangers_out(what):
    goal, who = aim(what), new("gus")
    token = entered(who)
    path = place(goal, token)
    for headers, why in strangers(who, token):
        reply = send(goal, None, path, headers=headers)
        assert 400 <= reply.status < 500, f"want 401 to {why}"


def keeps_what_is_anothers(what):
    """What one user has made, another neither sees nor changes."""
    goal, mine, other = aim(what), entered(new("ann")), entered(new("bob"))
    path = place(goal, mine)
    before = seen(goal, path, mine)
    reply = send(goal, other, path)
    assert 400 <= reply.status < 500, "want 404 or 403: somebody else has made it"
    assert seen(goal, path, mine) == before, "somebody else has changed it"
    own = send(goal, mine, path)
    assert 0 < own.status < 400, "who has made it is refused as well, so nothing is known"
'''
