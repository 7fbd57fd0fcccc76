"""The words that dialogues with a service are written in, as Python text: nothing runs here."""

SERVICE_WORDS = '''
import json as _json, math as _math

OPERATIONS = {}
ACCOUNTS = {}
PASSWORD = "Canary!7-{}-pw"


class Near(float):
    """A number that came over the wire: half a cent more or less is the same."""

    def __eq__(self, other):
        if isinstance(other, bool) or not isinstance(other, (int, float)):
            return NotImplemented
        return _math.isclose(self, other, rel_tol=1e-6, abs_tol=0.005)

    def __ne__(self, other):
        return not self == other

    __hash__ = float.__hash__


def _near(value):
    if isinstance(value, float):
        return Near(value)
    if isinstance(value, list):
        return [_near(each) for each in value]
    if isinstance(value, dict):
        return {name: _near(each) for name, each in value.items()}
    return value


class Answer:
    """What the service answered: its status, and by name what it holds."""

    def __init__(self, response):
        self.status = self.status_code = response.status
        self.text = response.text
        self.headers = response.headers
        kind = str(response.headers.get("Content-Type") or "")
        self.body = response.text
        if "json" in kind:
            try:
                self.body = _near(_json.loads(response.text))
            except ValueError:
                pass
        self.data = self.value = self.body

    def json(self):
        return self.body

    def __getitem__(self, name):
        if name == "status" and not (isinstance(self.body, dict) and name in self.body):
            return self.status
        if isinstance(self.body, str):
            raise AssertionError(f"{name!r} is asked of a text")
        try:
            return self.body[name]
        except (KeyError, IndexError, TypeError):
            raise AssertionError(f"the answer holds no {name!r}") from None

    def get(self, name, default=None):
        return self.body.get(name, default) if isinstance(self.body, dict) else default

    def _held(self):
        """What a good answer holds; one that refuses holds nothing that was asked for."""
        return self.body if self.status < 400 else ()

    def __contains__(self, item):
        return item in self._held()

    def __iter__(self):
        return iter(self._held())

    def __len__(self):
        return len(self._held())

    def __bool__(self):
        return self.status < 400

    def __eq__(self, other):
        if isinstance(other, Answer):
            return self.body == other.body
        if isinstance(other, tuple) and len(other) == 2 and isinstance(other[0], int):
            return self.status == other[0] and self.body == other[1]
        if isinstance(self.body, dict) and not isinstance(other, dict) and len(self.body) == 1:
            only = next(iter(self.body.values()))
            return only == other or self._is_status(only, other)
        if isinstance(self.body, str) and isinstance(other, str):
            return self.body.strip() == other.strip()
        return self.body == other or self._is_status(self.body, other)

    def _is_status(self, held, other):
        """A number that is no value of the answer means its status."""
        number = isinstance(other, int) and not isinstance(other, bool)
        return number and not isinstance(held, (int, float)) and self.status == other

    __hash__ = None

    def __repr__(self):
        return f"{self.status} {self.text[:200]!r}"


_tokens = {}


def _token(name):
    """Of a user, who is registered when need be."""
    if name not in _tokens:
        sent = {}
        for part in ("register", "login"):
            takes = dict(ACCOUNTS[part]["takes"])
            secret = next(each for each in takes if "pass" in each.lower())
            who = next(each for each in takes if each != secret)
            mail = "mail" in who.lower()
            takes |= {secret: PASSWORD.format(name), who: f"{name}@example.com" if mail else name}
            sent[part] = http("POST", ACCOUNTS[part]["path"], json=takes)
        found = _json.loads(sent["login"].text or "null")
        found = found if isinstance(found, dict) else {}
        texts = [found[each] for each in found if "token" in each.lower()]
        assert texts and sent["login"].status < 300, f"{name} cannot log in: {sent['login']!r}"
        _tokens[name] = texts[0]
    return _tokens[name]


def _call(name, /, *args, **kwargs):
    what = OPERATIONS[name]
    path, names = what["path"], []
    while "{" in path:
        before, _, rest = path.partition("{")
        inner, _, after = rest.partition("}")
        names.append(inner)
        path = before + "\\0" + inner + "\\0" + after
    wanted = (["user"] if what["login"] else []) + names + what["takes"]
    if len(args) > len(wanted):
        raise TypeError(f"{name} takes {wanted}")
    given = dict(zip(wanted, args))
    given.update(kwargs)
    odd = sorted(set(given) - set(wanted))
    if odd:
        raise TypeError(f"{name} takes {wanted}, not {odd}")
    headers = {}
    if what["login"] and given.get("user"):
        headers["Authorization"] = "Bearer " + _token(str(given["user"]))
    for inner in names:
        path = path.replace("\\0" + inner + "\\0", str(given.get(inner, "")))
    sent = {each: given[each] for each in what["takes"] if each in given}
    if what["accepts"] == "query":
        query = {each: sent[each] for each in sent if sent[each] is not None}
        return Answer(http(what["method"], path, headers=headers, query=query))
    if what["accepts"] == "text":
        text = str(next(iter(sent.values()), ""))
        headers["Content-Type"] = "text/plain"
        return Answer(http(what["method"], path, headers=headers, body=text))
    if what["accepts"] == "form":
        return Answer(http(what["method"], path, headers=headers, form=sent))
    if not what["takes"]:
        return Answer(http(what["method"], path, headers=headers))
    return Answer(http(what["method"], path, headers=headers, json=sent))


def _caller(name):
    return lambda *args, **kwargs: _call(name, *args, **kwargs)


for _name in OPERATIONS:
    globals()[_name] = _caller(_name)
'''
