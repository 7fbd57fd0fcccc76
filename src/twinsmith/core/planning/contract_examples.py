"""Plans of services that nobody asks for, for prompts: small models stay near to what they see."""

import json

_BOOK = {"title": "Emma", "fee": 0.25}
_TABLES = {"books": {"id": "integer", "title": "string", "fee": "number", "borrower": "string"}}
_NO_BOOK = {"status": 404, "when": "there is no such book"}
_LENT = {"status": 409, "when": "the book is lent"}


def example_for(*, login: bool) -> tuple[str, str]:
    """A task, and its plan; somebody logs in only where somebody does in the task at hand."""
    who = "readers who are logged in" if login else "readers"
    task = (
        f"A service for a library: anybody adds books with a daily fee, {who} borrow them for some "
        "days and hear what it costs, and it lists the books that are lent; a book that is lent "
        "cannot be borrowed"
    )
    add = _route("anybody adds books with a daily fee", "add_book", "POST", "/books", login=False)
    add |= {"takes": _BOOK, "status": 201, "gives": {"id": 1, **_BOOK}, "refuses": []}
    words = f"{who} borrow them for some days and hear what it costs"
    borrow = _route(words, "borrow_book", "POST", "/books/{id}/borrow", login=login)
    taken = {"days": 3} if login else {"borrower": "ann", "days": 3}
    given = {"id": 1, "borrower": "ann", "cost": 0.75}
    borrow |= {"takes": taken, "status": 200, "gives": given, "refuses": [_NO_BOOK, _LENT]}
    lent = _route("lists the books that are lent", "lent_books", "GET", "/books/lent", login=False)
    row = {"id": 1, "title": "Emma", "borrower": "ann"}
    lent |= {"takes": {}, "status": 200, "gives": [row], "refuses": []}
    routes = [add, borrow, lent]
    if not login:
        for route in routes:
            del route["login"]
    return task, json.dumps({"tables": _TABLES, "routes": routes})


def _route(quote: str, function: str, method: str, path: str, *, login: bool) -> dict[str, object]:
    named = {"quote": quote, "function": function, "method": method, "path": path}
    return {**named, "login": login}


LOGIN_RULE = (
    "- `login` is true where somebody has to be logged in; who that is comes with the token, never "
    "in `takes` or in the path. Registering and logging in are there by themselves: no routes and "
    "no table for them, unless the task names their paths.\n"
)
