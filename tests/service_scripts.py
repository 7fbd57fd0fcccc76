"""What models say about services in tests: a plan, its pieces and dialogues, by what is asked."""

import json
from collections.abc import Mapping

CART = (
    "Create a REST API in Python for a shopping cart with user accounts: users add products with a "
    "quantity and a unit price to their own cart, remove them, and see the total"
)
_REQUIREMENTS = [
    ("user accounts", False),
    ("users add products with a quantity and a unit price to their own cart", False),
    ("remove them", False),
    ("see the total", False),
]
REQUIREMENTS = json.dumps(
    {
        "requirements": [
            {"what": quote, "quote": quote, "refuses": refuses} for quote, refuses in _REQUIREMENTS
        ]
    }
)
_ITEM = {"product": "apple", "quantity": 2, "unit_price": 1.5}
_ADD = {
    "quote": "users add products with a quantity and a unit price to their own cart",
    "function": "add_item",
    "method": "POST",
    "path": "/cart/items",
    "login": True,
    "takes": _ITEM,
    "status": 201,
    "gives": {"id": 1, **_ITEM},
    "refuses": [],
}
_REMOVE = {
    "quote": "remove them",
    "function": "remove_item",
    "method": "DELETE",
    "path": "/cart/items/{id}",
    "login": True,
    "takes": {},
    "status": 204,
    "gives": None,
    "refuses": [{"status": 404, "when": "there is no such item"}],
}
_TOTAL = {
    "quote": "see the total",
    "function": "see_total",
    "method": "GET",
    "path": "/cart/total",
    "login": True,
    "takes": {},
    "status": 200,
    "gives": {"total": 3.0},
    "refuses": [],
}
_COLUMNS = {
    "id": "integer",
    "user": "string",
    "product": "string",
    "quantity": "integer",
    "unit_price": "number",
}
PLAN = json.dumps({"tables": {"items": _COLUMNS}, "routes": [_ADD, _REMOVE, _TOTAL]})
PIECES: Mapping[str, str] = {
    "add_item": """def add_item(user: str, product: str, quantity: int, unit_price: float):
    row = store.add("items", user=user, product=product, quantity=quantity, unit_price=unit_price)
    return 201, {name: row[name] for name in ("id", "product", "quantity", "unit_price")}
""",
    "remove_item": """def remove_item(user: str, id: int):
    row = store.get("items", id)
    if row is None or row["user"] != user:
        return 404, {"error": "no such item"}
    store.remove("items", id)
    return 204, {}
""",
    "see_total": """def see_total(user: str):
    rows = store.all("items", user=user)
    return 200, {"total": sum(row["quantity"] * row["unit_price"] for row in rows)}
""",
}
DIALOGUES: Mapping[str, str] = {
    "to their own cart": """def test_1():
    first = add_item("ann", product="pear", quantity=2, unit_price=1.5)
    assert first.status == 201 and first["product"] == "pear"
    assert see_total("ann")["total"] == 2 * 1.5
    assert see_total("bob")["total"] == 0
""",
    "remove them": """def test_1():
    first = add_item("ann", product="pear", quantity=2, unit_price=1.5)
    assert remove_item("ann", first["id"]).status == 204
    assert remove_item("ann", first["id"]).status == 404

def test_2():
    first = add_item("ann", product="pear", quantity=2, unit_price=1.5)
    assert remove_item("bob", first["id"]).status == 404
""",
    "see the total": """def test_1():
    add_item("ann", product="pear", quantity=2, unit_price=1.5)
    add_item("ann", product="plum", quantity=3, unit_price=0.75)
    assert see_total("ann") == 2 * 1.5 + 3 * 0.75
""",
}


DIAGNOSIS = (
    '{"function": "see_total", "cause": "an empty cart is not thought of", '
    '"change": "look whether there are rows"}'
)


def cart_script(
    pieces: Mapping[str, str] = PIECES,
    dialogues: Mapping[str, str] = DIALOGUES,
    *,
    delay: float = 0.0,
) -> dict[str, object]:
    """A script for the cart; whoever is asked for something else has nothing to say.

    `delay` is how long a coder takes.
    """
    replies: list[dict[str, object]] = [
        {"role": "slow", "when": "What is such a program called?", "text": "online shop"},
        {"role": "slow", "when": "A service answers HTTP requests and", "text": "nothing"},
        {"role": "slow", "when": "Split a task", "text": REQUIREMENTS},
        {"role": "slow", "when": "Does somebody have to prove", "text": "with user accounts"},
        {"role": "slow", "when": "You plan an HTTP service", "text": PLAN},
        {"role": "slow", "when": "A service runs and has trouble", "text": DIAGNOSIS},
    ]
    replies += [
        {"role": "coder", "when": f"`{name}`", "text": f"```python\n{source}```", "delay": delay}
        for name, source in pieces.items()
    ]
    replies += [
        {"role": "critic", "when": f'is done: "{quote}', "text": f"```python\n{source}```"}
        for quote, source in (
            ("users add products", dialogues.get("to their own cart", "")),
            ("remove them", dialogues.get("remove them", "")),
            ("see the total", dialogues.get("see the total", "")),
            ("with user accounts", ""),
            ("user accounts", "def test_1():\n    assert add_item('ann', 'a', 1, 2.0)\n"),
        )
    ]
    return {"name": "cart", "replies": replies}


_NOTE = {"title": "milk", "text": "two litres"}
_NOTES_ROUTES = [
    ("notes with a title and a text are added", "add_note", "POST", "/notes", _NOTE, 201),
    ("listed", "list_notes", "GET", "/notes", {}, 200),
    ("read", "read_note", "GET", "/notes/{id}", {}, 200),
    ("deleted", "delete_note", "DELETE", "/notes/{id}", {}, 204),
]
NOTES_PIECES: Mapping[str, str] = {
    "add_note": """def add_note(title: str, text: str):
    return 201, store.add("notes", title=title, text=text)
""",
    "list_notes": """def list_notes():
    return 200, store.all("notes")
""",
    "read_note": """def read_note(id: int):
    row = store.get("notes", id)
    if row is None:
        return 404, {"error": "no such note"}
    return 200, row
""",
    "delete_note": """def delete_note(id: int):
    if store.get("notes", id) is None:
        return 404, {"error": "no such note"}
    store.remove("notes", id)
    return 204, {}
""",
}
_NOTES_DIALOGUE = """def test_1():
    first = add_note(title="milk", text="two litres")
    assert first.status == 201 and first["title"] == "milk"
    assert [each["id"] for each in list_notes()] == [first["id"]]
    assert read_note(first["id"])["text"] == "two litres"
    assert delete_note(first["id"]).status == 204
    assert read_note(first["id"]).status == 404
"""


def notes_script() -> dict[str, object]:
    """A script for notes that anybody may keep."""
    gives: dict[str, object] = {
        "add_note": {"id": 1, **_NOTE},
        "list_notes": [{"id": 1, **_NOTE}],
        "read_note": {"id": 1, **_NOTE},
        "delete_note": None,
    }
    missing = [{"status": 404, "when": "there is no such note"}]
    routes = [
        {
            "quote": quote,
            "function": name,
            "method": method,
            "path": path,
            "login": False,
            "takes": takes,
            "status": status,
            "gives": gives[name],
            "refuses": missing if "{id}" in path else [],
        }
        for quote, name, method, path, takes, status in _NOTES_ROUTES
    ]
    wanted = [{"what": quote, "quote": quote, "refuses": False} for quote, *_ in _NOTES_ROUTES]
    tables = {"notes": {"id": "integer", "title": "string", "text": "string"}}
    replies: list[dict[str, object]] = [
        {"role": "slow", "when": "What is such a program called?", "text": "notes"},
        {"role": "slow", "when": "A service answers HTTP requests and", "text": "nothing"},
        {"role": "slow", "when": "Split a task", "text": json.dumps({"requirements": wanted})},
        {"role": "slow", "when": "Does somebody have to prove", "text": "nobody"},
        {
            "role": "slow",
            "when": "You plan an HTTP service",
            "text": json.dumps({"tables": tables, "routes": routes}),
        },
        {
            "role": "slow",
            "when": "A service runs and has trouble",
            "text": json.dumps(
                {"function": "list_notes", "cause": "it keeps everything", "change": "keep nothing"}
            ),
        },
    ]
    replies += [
        {"role": "coder", "when": f"`{name}`", "text": f"```python\n{source}```"}
        for name, source in NOTES_PIECES.items()
    ]
    said = f"```python\n{_NOTES_DIALOGUE}```"
    replies.append({"role": "critic", "when": "is done: ", "text": said})
    return {"name": "notes", "replies": replies}
