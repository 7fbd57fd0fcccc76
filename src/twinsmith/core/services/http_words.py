"""The words that checks of a service are written in, as Python text: nothing of it runs here."""

PASSWORD_MARK = "Canary!7"  # noqa: S105

WORDS = '''
import base64, hashlib, hmac, json, os, stat, threading

ROUTES = []
GONE = object()
NOT_OBJECTS = ("", "not json", "{", "[]", "[1]", '"text"', "5", "null")
GARBLED = ("Bearer", "Bearer ", "Bearer x", "Bearer a.b.c", "Basic dXNlcjpwYXNz", "nonsense",
           "Bearer null", "Bearer " + "x" * 3000)
SQL = ("' OR '1'='1", "' OR 1=1 --", "x'; DROP TABLE users; --", "'", '" OR ""="', "admin'--",
       "') OR ('1'='1", "' UNION SELECT 1, 'a', 'b' --", "\\u02bc OR 1=1 --", "\\\\' OR 1=1 #")
TWINS = [("z' OR '1'='1", "z' OR '1'='2"), ("z' OR 1=1--", "z' OR 1=2--"), ("0 OR 1=1", "0 OR 1=2")]
NOWHERE = ("0", "-1", "987654", "no-such-thing", "1%27%20OR%20%271%27=%271", "%00", "9" * 40)
SECRETS = ("secret", "secret_key", "secret-key", "your_secret_key", "your-secret-key", "SECRET_KEY",
           "your_jwt_secret", "mysecret", "my_secret_key", "mysecretkey", "supersecret",
           "super-secret", "supersecretkey", "super_secret_key", "secretkey", "jwt_secret", "key",
           "your_secret_key_here", "your-secret-key-here", "default_secret_key", "default_secret",
           "default-secret-key", "dev", "test", "changeme", "change-me", "change_me", "password",
           "jwt_secret_key", "jwt-secret-key", "default", "development", "dev-secret", "")
PLACES = ("/tmp", "/dev/shm")
TOKENS = ("token", "access_token", "accessToken", "auth_token", "jwt", "session_token", "session")
sent = None


def route_for(purpose):
    return next((route for route in ROUTES if route["purpose"] == purpose), None)


def password(who):
    return f"Canary!7-{who}-pw"


def sample(name, kind, who, example=None):
    if "pass" in name:
        return password(who)
    if "mail" in name:
        return f"{who}@example.com"
    if name in ("username", "user", "name", "login"):
        return who
    if example is not None:
        return example
    if kind != "string":
        return {"integer": 7, "number": 1.5, "boolean": True, "list": ["a"], "object": {}}[kind]
    if "url" in name or "link" in name:
        return f"https://example.com/{who}"
    return "2026-01-31" if "date" in name else f"{who} {name}"


def values_of(route, who, changed, only=None):
    examples = route["examples"]
    values = {
        name: sample(name, kind, who, examples.get(name)) for name, kind in route["fields"].items()
    }
    values = only if only is not None else values
    for name, value in changed.items():
        # A check says `password`, the service may call it `passwd`.
        if name == "password" and name not in route["fields"]:
            name = next(each for each in route["fields"] if "pass" in each)
        values[name] = value
    return {name: value for name, value in values.items() if value is not GONE}


def request(route, values=None, token=None, which="1", headers=None):
    global sent
    sent = values
    path = route["path"]
    while "{" in path:
        before, _, rest = path.partition("{")
        path = before + str(which) + rest.partition("}")[2]
    headers = headers if headers is not None else bearer(token) if token else {}
    return http(route["method"], path, json=values, headers=headers)


def named(what):
    return next(each for each in ROUTES if what == each["method"] + " " + each["path"])


def ask(what, who, token=None, only=None, **changed):
    route = named(what)
    values = values_of(route, who, changed, only) if route["fields"] else None
    return request(route, values, token)


def raw(what, body, token):
    global sent
    sent, route = body, named(what)
    headers = {"Content-Type": "application/json", **(bearer(token) if token else {})}
    return http(route["method"], route["path"], body=body, headers=headers)


def register(who, **changed):
    route = route_for("register")
    return request(route, values_of(route, who, changed))


def login(who, **changed):
    route = route_for("login")
    return request(route, values_of(route, who, changed))


def known(who):
    """The token of a user, who is registered when need be."""
    reply = login(who)
    if reply.status // 100 != 2:
        good(register(who))
        reply = login(who)
    return token_of(reply)


def a_token(needed):
    return known("owner") if needed and route_for("login") else None


def bearer(token):
    return {"Authorization": "Bearer " + token}


def guarded(headers):
    """Ask what needs a token."""
    routes = [route for route in ROUTES if route["token"]]
    order = ("list", "create", "other")
    rank = lambda r: order.index(r["purpose"]) if r["purpose"] in order else 9
    best = min(routes, key=lambda r: ("{" in r["path"], r["method"] != "GET", rank(r)))
    values = values_of(best, "guest", {}) if best["fields"] else None
    return request(best, values, headers=headers)


def create(who, token, **changed):
    route = route_for("create")
    return request(route, values_of(route, who, changed), token)


def read(which, token):
    return request(route_for("read"), None, token, which)


def listed(token):
    return request(route_for("list"), None, token)


def update(which, who, token, **changed):
    route = route_for("update")
    return request(route, values_of(route, who, changed), token, which)


def delete(which, token):
    return request(route_for("delete"), None, token, which)


def shows(which, who, token, **changed):
    if route_for("read"):
        holds(read(which, token), who, **changed)


def otherwise(what, who):
    """One value that is not the contract's example: without it all that is sent looks the same."""
    route = route_for(what)
    plain, examples = values_of(route, who, {}), route["examples"]
    if any(isinstance(plain[name], str) and plain[name] != examples.get(name) for name in plain):
        return {}
    for name, value in plain.items():
        if type(value) in (int, float) and not name.lower().endswith("id"):
            return {name: value + 1}
    texts = [name for name in plain if isinstance(plain[name], str)]
    for name in sorted(texts, key=lambda name: " " not in plain[name]):
        if all(word.isalpha() for word in plain[name].split()):
            return {name: f"{plain[name]} {who}"}
    return {}


def gone(which, token):
    if route_for("read"):
        refused(read(which, token), 404, 410)


def texts_of(what):
    route = route_for(what) or named(what)
    return [name for name, kind in route["fields"].items() if kind == "string"]


def wrong_types(what):
    """Names with values that are not of their kind."""
    for name, kind in named(what)["fields"].items():
        for value in (["a"], {"a": 1}, 12345, True) if kind == "string" else ("abc", ["a"], {}):
            yield name, value


def leaves(reply):
    """Every value in a reply, however deep it lies."""
    found, todo = [], [json.loads(reply.text or "null")]
    while todo:
        value = todo.pop()
        found.append(value)
        if isinstance(value, (dict, list)):
            todo += value.values() if isinstance(value, dict) else value
    return found


def found(reply, names):
    """The first value that goes by one of the names, however deep it lies."""
    objects = [value for value in leaves(reply) if isinstance(value, dict)]
    for name in names:
        for each in objects:
            if isinstance(each.get(name), (str, int)):
                return each[name]
    return None


def token_of(reply):
    good(reply)
    gives = [name for name in route_for("login")["gives"] if "token" in name]
    token = found(reply, (*gives, *TOKENS))
    assert isinstance(token, str) and token, "no token in the reply"
    return token


def id_of(reply):
    """What the created item is read by."""
    good(reply)
    path = (route_for("read") or route_for("update") or route_for("delete"))["path"]
    name = path.partition("{")[2].partition("}")[0]
    gives = route_for("create")["gives"]
    which = found(reply, (name, "id", f"{name}_id", "code", "short_code", "key", *gives))
    assert which is not None, f"no {name!r} in the reply"
    return str(which).rstrip("/").rpartition("/")[2]


def holds(reply, who, **changed):
    """The reply holds what was sent for `who`, or leads there."""
    route = route_for("create")
    wanted = [v for v in values_of(route, who, changed).values() if isinstance(v, str)]
    if 300 <= reply.status < 400:
        assert reply.headers.get("Location") in wanted, f"want the header Location: {wanted}"
        return
    good(reply)
    there = leaves(reply)
    for value in (*wanted, *changed.values()):
        assert value in there, f"want {value!r} in the reply"


def good(reply):
    assert 200 <= reply.status < 300, f"want 200 to 299; sent {sent!r:.200}"


def calm(reply):
    assert reply.status < 500, f"want less than 500; sent {sent!r:.200}"


def refused(reply, *statuses):
    wanted = " or ".join(map(str, statuses)) or "400 to 499"
    right = reply.status in statuses if statuses else 400 <= reply.status < 500
    assert right, f"want {wanted}; sent {sent!r:.200}"


def kept_out(reply, why=""):
    assert reply.status in (400, 401, 403, 422), f"want 401 {why}".strip()


def there(reply):
    wrong = reply.status in (401, 403, 404, 405) or reply.status >= 500
    assert not wrong, f"want a good answer; sent {sent!r:.200}"


def let_in(reply):
    wrong = reply.status in (401, 403) or reply.status >= 500
    assert not wrong, f"want a good answer; sent {sent!r:.200}"


def wrong_methods():
    for path in {route["path"] for route in ROUTES if "{" not in route["path"]}:
        methods = {route["method"] for route in ROUTES if route["path"] == path}
        method = next(m for m in ("PATCH", "DELETE", "PUT") if m not in methods)
        assert http(method, path).status in (401, 403, 404, 405, 501), "want 405"


def together(one, many):
    problems = []

    def safely(n):
        try:
            one(n)
        except BaseException as error:
            problems.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=safely, args=(n,)) for n in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, f"{len(problems)} of {many} requests at once failed: {problems[0]}"


def aimed(name, who):
    """Names that are nobody's, and mean a user where they become part of a statement."""
    ends = (f"{who}' --", f"{who}'/*")
    return (*ends, f"nobody' OR {name}='{who}", f"nobody' OR {name} LIKE '{who}%")


def searched(what, name, text, token):
    global sent
    route, sent = named(what), {name: text}
    query = {**{each: sample(each, *kind) for each, kind in route["query"].items()}, **sent}
    headers = bearer(token) if token else {}
    return http(route["method"], route["path"], headers=headers, query=query)


def size_of(reply):
    try:
        return reply.status, len(leaves(reply))
    except ValueError:
        return reply.status, len(reply.text)


def the_same(what, name, token):
    """What is true or false as SQL is a text like another, and so is its answer."""
    for true, false in TWINS:
        asked = [searched(what, name, text, token) for text in (false, true, true)]
        for reply in asked:
            calm(reply)
        other, first, again = map(size_of, asked)
        assert first != again or first == other, f"sent {name}={true}, and it is read as SQL"


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def parts_of(token):
    """Header and claims of a signed token; None for one that only the service understands."""
    try:
        head, body, _ = token.split(".")
        read = [json.loads(base64.urlsafe_b64decode(p + "=" * (-len(p) % 4))) for p in (head, body)]
        return read if all(isinstance(each, dict) for each in read) else None
    except ValueError:
        return None


def packed(head, claims):
    return ".".join(unpadded(json.dumps(each).encode()) for each in (head, claims))


def changed(token):
    """Tokens that look like this one and were never given to anybody."""
    middle = len(token) * 4 // 5
    other = "A" if token[middle] != "A" else "B"
    texts = [token[:middle] + other + token[middle + 1:], token[::-1], token + token]
    texts += ["gus", "1", base64.b64encode(b"gus").decode()]
    texts += [hashlib.new(name, b"gus").hexdigest() for name in ("md5", "sha1", "sha256")]
    if parts_of(token):
        head, claims = parts_of(token)
        for name, value in claims.items():
            if isinstance(value, (str, int)):
                other = value + 1 if isinstance(value, int) else value + "x"
                texts.append(packed(head, {**claims, name: other}) + "." + token.rpartition(".")[2])
    return texts


def unsigned(token):
    if not parts_of(token):
        return []
    _, claims = parts_of(token)
    heads = [{"alg": alg, "typ": "JWT"} for alg in ("none", "None", "NONE")]
    return [packed(head, claims) + "." for head in heads]


def guessed(token):
    if not parts_of(token):
        return []
    head, claims = parts_of(token)
    hashes = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}
    if head.get("alg") not in hashes:
        return []
    text = packed(head, claims)
    sign = lambda key: hmac.new(key.encode(), text.encode(), hashes[head["alg"]]).digest()
    return [(secret, text + "." + unpadded(sign(secret))) for secret in SECRETS]


def stored(secret):
    """The file that holds a password as it is or in a form that is as good, or nothing."""
    data = secret.encode()
    forms = [data, base64.b64encode(data), data.hex().encode(), data[::-1]]
    for name in ("md5", "sha1", "sha256", "sha512"):
        digest = hashlib.new(name, data)
        forms += [digest.digest(), digest.hexdigest().encode()]
    for top in PLACES:
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    continue
                with open(path, "rb") as file:
                    text = file.read(16 << 20)
                if any(form in text for form in forms):
                    return path
    return ""
'''
