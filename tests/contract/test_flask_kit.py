"""The real kit in the real sandbox: what every service answers, whatever a model wrote into it."""

from dataclasses import replace

from tests.sandboxes import sandbox
from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.planning.contract import Contract, Field, Operation, Table
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.dialogue import service_setup
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program
from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

LIMITS = Limits(probe_seconds=PROBE_SECONDS, cpu_seconds=CPU_SECONDS)
CART_CONTRACT = read_contract(PLAN, CART, login="with user accounts")
ITEM = {"product": "pear", "quantity": 2, "unit_price": 1.5}
TOKEN = "headers = {'Authorization': 'Bearer ' + _token('ann')}\n"


async def executed(program: Program, setup: str, *sources: str) -> Execution:
    checks = [Probe(name=f"{n}", origin="plan", source=each) for n, each in enumerate(sources)]
    execution = await sandbox().run(program, Probes(checks=tuple(checks), setup=setup), LIMITS)
    assert len(execution.results) == len(sources), execution.problem
    return execution


async def seen(contract: Contract, pieces: dict[str, str], *sources: str) -> list[ProbeResult]:
    program = assembled(contract, pieces, kit(FLASK_KIT))
    return list((await executed(program, service_setup(contract), *sources)).results)


async def holds(contract: Contract, pieces: dict[str, str], *sources: str) -> None:
    """Every check passes."""
    results = await seen(contract, pieces, *sources)
    wrong = {sources[int(r.name)]: r.detail for r in results if r.outcome != "passed"}
    assert wrong == {}


def post(item: object) -> str:
    return f"{TOKEN}answer = http('POST', '/cart/items', json={item!r}, headers=headers)\n"


async def test_statuses_bodies_and_tokens() -> None:
    wrong: list[object] = [
        {},
        [],
        "text",
        {**ITEM, "product": ""},
        {**ITEM, "product": None},
        {**ITEM, "product": 5},
        {**ITEM, "product": "a\0b"},
        {**ITEM, "quantity": "2"},
        {**ITEM, "quantity": 2.5},
        {**ITEM, "quantity": True},
        {**ITEM, "unit_price": "1.5"},
        {**ITEM, "unit_price": [1]},
    ]
    await holds(
        CART_CONTRACT,
        dict(PIECES),
        f"{post(ITEM)}assert answer.status == 201 and answer.json()['product'] == 'pear'",
        # A whole number is a number, and what nobody asked for is left out.
        f"{post({**ITEM, 'unit_price': 2, 'more': 1})}assert answer.status == 201\n"
        "assert answer.json()['unit_price'] == 2 and 'more' not in answer.json()",
        *(
            f"{post(each)}assert answer.status == 400 and answer.json()['error']\n"
            "assert 'Traceback' not in answer.text"
            for each in wrong
        ),
        f"{TOKEN}answer = http('POST', '/cart/items', body='{{', headers=headers)\n"
        "assert answer.status == 400",
        f"{TOKEN}answer = http('POST', '/cart/items', json='x' * 2_000_000, headers=headers)\n"
        "assert answer.status == 413 and answer.json()['error']",
        "assert http('GET', '/cart/total').status == 401",
        "for word in ('Bearer', 'Bearer x', 'Basic YTpi', _token('ann')):\n"
        "    answer = http('GET', '/cart/total', headers={'Authorization': word})\n"
        "    assert answer.status == 401 and answer.json()['error']",
        "assert see_total('ann').status == 200 and see_total('bob')['total'] == 0",
        "first = add_item('cat', 'pear', 2, 1.5)\n"
        "assert remove_item('cat', first['id']).text == ''\n"
        "assert remove_item('cat', first['id']).status == 404",
        f"{TOKEN}assert http('DELETE', '/cart/items/x', headers=headers).status == 404",
        f"{TOKEN}assert http('DELETE', '/cart/items/{'9' * 40}', headers=headers).status == 404",
        "answer = http('PUT', '/cart/total')\n"
        "assert answer.status == 405 and answer.json()['error']",
        "answer = http('GET', '/nowhere')\nassert answer.status == 404 and answer.json()['error']",
        "told = http('GET', '/openapi.json').json()\n"
        "assert told['paths']['/cart/total']['get']['operationId'] == 'see_total'",
    )


async def test_accounts() -> None:
    sent = "json={'username': 'dan', 'password': 'Right!7'}"
    await holds(
        CART_CONTRACT,
        dict(PIECES),
        f"answer = http('POST', '/register', {sent})\n"
        "assert (answer.status, answer.json()) == (201, {'username': 'dan'})",
        f"assert http('POST', '/register', {sent}).status == 409",
        f"first, second = [http('POST', '/login', {sent}).json()['token'] for _ in (1, 2)]\n"
        "assert first != second\n"
        "for token in (first, second):\n"
        "    answer = http('GET', '/cart/total', headers={'Authorization': 'Bearer ' + token})\n"
        "    assert answer.status == 200",
        "for name, word in (('dan', 'wrong'), ('nobody', 'Right!7')):\n"
        "    sent = {'username': name, 'password': word}\n"
        "    answer = http('POST', '/login', json=sent)\n"
        "    assert answer.status == 401 and 'token' not in answer.json()",
    )


KEEP = Operation(
    function="keep",
    method="POST",
    path="/things",
    takes=(Field(name="name"), Field(name="note", required=False)),
    status=201,
    gives='{"id": 1}',
)


def plain(function: str, path: str, **more: object) -> Operation:
    asked = Operation(function=function, method="GET", path=path, gives='{"a": 1}')
    return replace(asked, **more)  # type: ignore[arg-type]


THINGS = Contract(
    operations=(
        KEEP,
        plain("things", "/things"),
        Operation(function="drop", method="DELETE", path="/things/{id}", status=204),
        plain("half", "/half"),
        plain("text", "/text", answers="text"),
        plain("page", "/page", answers="html"),
        plain("nothing", "/nothing", answers="nothing", status=200),
        plain("moved", "/moved/{code}", status=302, answers="redirect"),
        plain(
            "search",
            "/search",
            accepts="query",
            takes=(
                Field(name="word"),
                Field(name="most", kind="integer", required=False),
                Field(name="exact", kind="boolean", required=False),
                Field(name="tags", kind="list", required=False),
                Field(name="price", kind="number", required=False),
            ),
        ),
        plain("by_code", "/codes/{code}/{size}"),
        plain("bare", "/bare"),
    ),
    tables=(
        Table(name="things", columns=(Field(name="id", kind="integer"), Field(name="name"))),
        Table(
            name="sizes",
            columns=(Field(name="id", kind="integer"), Field(name="size", kind="number")),
        ),
    ),
)
WRITTEN = {
    "keep": """def keep(name: str, note: str | None = None):
    row = store.add("things", name=name, note=note)
    return 201, row
""",
    "things": 'def things():\n    return 200, store.all("things")\n',
    "drop": 'def drop(id: int):\n    store.remove("things", id)\n    return 204, {}\n',
    "half": """def half():
    store.add("things", name="half")
    secret_of_the_house = {}
    return 200, secret_of_the_house["key"]
""",
    "text": 'def text():\n    return 200, "für alle\\n"\n',
    "page": 'def page():\n    return 200, "<p>hello</p>"\n',
    "nothing": "def nothing():\n    return 200, None\n",
    "moved": """def moved(code: str):
    return (302, {"location": "https://example.com/" + code}) if code != "no" else (404, "gone")
""",
    "search": """def search(word, most=None, exact=None, tags=None, price=None):
    return 200, [word, most, exact, tags, price]
""",
    "by_code": "def by_code(code: str, size: float):\n    return 200, [code, size]\n",
    "bare": 'def bare():\n    return {"status": "as it is"}\n',
}


async def test_a_function_that_fails_is_500_and_leaves_nothing_half_done() -> None:
    await holds(
        THINGS,
        WRITTEN,
        "assert keep('a').status == 201",
        "answer = half()\nassert answer.status == 500\n"
        "assert 'Traceback' not in answer.text and 'secret_of' not in answer.text\n"
        "assert 'KeyError' not in answer.text and answer['error']",
        "assert [each['name'] for each in things()] == ['a']",
        # And it goes on.
        "assert keep('b')['name'] == 'b'",
    )


async def test_ids_are_never_used_twice() -> None:
    await holds(
        THINGS,
        WRITTEN,
        "first, second = keep('a')['id'], keep('b')['id']\nassert (first, second) == (1, 2)\n"
        "drop(second)\nassert keep('c')['id'] == 3\n"
        "assert [each['id'] for each in things()] == [1, 3]",
    )


async def test_a_row_stands_for_its_key() -> None:
    mistaken = """def keep(name: str, note: str | None = None):
    row = store.add("things", name=name)
    store.add("sizes", size=1.5, thing=row)
    assert store.get("things", row) == row and store.all("sizes", thing=row)[0]["thing"] == 1
    store.change("things", row, name=name + "!")
    return 201, {"id": row, "kept": store.get("sizes", thing=row)}
"""
    await holds(
        THINGS,
        {**WRITTEN, "keep": mistaken},
        "answer = keep(name='a')\nassert answer['id'] == 1 and answer['kept']['thing'] == 1\n"
        "assert things()[0]['name'] == 'a!'",
    )


async def test_answers_that_are_no_json() -> None:
    await holds(
        THINGS,
        WRITTEN,
        "answer = text()\nassert answer.body == 'für alle\\n'\n"
        "assert answer.headers.get('Content-Type').startswith('text/plain')",
        "answer = page()\nassert answer.text == '<p>hello</p>'\n"
        "assert answer.headers.get('Content-Type').startswith('text/html')",
        "answer = nothing()\nassert (answer.status, answer.text) == (200, '')",
        "answer = drop(1)\nassert (answer.status, answer.text) == (204, '')",
        "answer = moved('x')\nassert answer.status == 302\n"
        "assert answer.headers.get('Location') == 'https://example.com/x'",
        "answer = moved('no')\nassert answer.status == 404 and answer['error'] == 'gone'",
        "answer = bare()\nassert answer.status == 200 and answer['status'] == 'as it is'",
    )


async def test_values_in_the_query_and_in_the_path() -> None:
    await holds(
        THINGS,
        WRITTEN,
        "assert search(word='ä b&c') == ['ä b&c', None, None, None, None]",
        "assert search('a', most=3, exact=True, tags='x,y', price=2.5) == "
        "['a', 3, True, ['x', 'y'], 2.5]",
        "assert http('GET', '/search?word=a&exact=no').json()[2] is False",
        "for query in ('', '?word=', '?word=a&most=x', '?word=a&most=1.5', '?word=a&price=nan'):\n"
        "    answer = http('GET', '/search' + query)\n"
        "    assert answer.status == 400 and answer.json()['error'], query",
        "assert by_code('a b', 2.5) == ['a b', 2.5]",
        "assert http('GET', '/codes/x/large').status == 404",
        "assert keep(name='a', note='b')['note'] == 'b'",
        "assert keep(name='a')['note'] is None",
    )


async def test_what_is_kept_is_there_for_all_who_ask_at_once() -> None:
    together = (
        "import threading\n"
        "threads = [threading.Thread(target=keep, args=(str(n),)) for n in range(12)]\n"
        "for thread in threads:\n    thread.start()\n"
        "for thread in threads:\n    thread.join()\n"
        "assert sorted(each['id'] for each in things()) == list(range(1, 13))"
    )
    await holds(THINGS, WRITTEN, together)


async def test_no_password_and_no_token_stands_in_the_log() -> None:
    program = assembled(CART_CONTRACT, PIECES, kit(FLASK_KIT))
    setup = service_setup(CART_CONTRACT)
    execution = await executed(program, setup, "see_total('ann')", "see_total('bob')")
    assert "GET /cart/total" in execution.log
    assert "Canary" not in execution.log
    assert "Bearer" not in execution.log


GAMES = """```python
games = Table(id=int, title=str, lent=bool, plays=int, players=list)

@post("/games", status=201)
def add_game(title: str, players: list = None):
    return {"id": 1, "title": "Go", "lent": False, "holder": "ann"}

@get("/games", status=200)
def list_games(title: str = "", most: int = 10):
    return [{"id": 1, "title": "Go"}]

@post("/games/{id}/lend", status=200)
def lend_game(id: int):
    return {"id": 1, "title": "Go"}
```"""
GAME_PIECES = {
    "add_game": "def add_game(title, players=None):\n"
    '    return 201, store.add("games", title=title)\n',
    "list_games": "def list_games(title='', most=10):\n"
    '    if title:\n        return 200, [store.get("games", {"title": title})]\n'
    '    return 200, [row["plays"] for row in store.all("games", plays__lt=most)]\n',
    "lend_game": 'def lend_game(id):\n    row = store.get("games", id)\n    row["plays"] += 1\n'
    '    row["lent"] = True\n    return 200, store.change("games", id, row)\n',
}


async def test_rows_have_all_columns_and_can_be_asked_for_in_many_ways() -> None:
    contract = read_contract(GAMES, "games", login="")
    row = {"id": 1, "title": "Go", "lent": False, "plays": 0, "players": [], "holder": None}
    await holds(
        contract,
        GAME_PIECES,
        f"assert add_game('Go').json() == {row!r}",
        f"assert lend_game(1).json() == { ({**row, 'lent': True, 'plays': 1})!r}",
        "assert list_games(title='Go').json()[0]['id'] == 1",
        "assert list_games().json() == [1] and list_games(most=1).json() == []",
        "assert http('GET', '/games?most=x').status == 400",
    )


async def test_who_is_told_about_a_new_row_is_told_its_key() -> None:
    contract = read_contract(GAMES, "games", login="")
    made = "def add_game(title, players=None):\n    row = {'title': title}\n"
    keeps = f"{made}    store.add('games', **row)\n    return 201, row\n"
    other = f"{made}    store.add('games', title='x')\n    return 201, row\n"
    told = "assert add_game('Go').json() == "
    await holds(contract, {**GAME_PIECES, "add_game": keeps}, f"{told}{{'id': 1, 'title': 'Go'}}")
    await holds(contract, {**GAME_PIECES, "add_game": other}, f"{told}{{'title': 'Go'}}")


async def test_an_object_of_status_and_body_is_that_pair() -> None:
    contract = read_contract(GAMES, "games", login="")
    made = (
        "def add_game(title, players=None):\n    return {'status': 409, 'body': {'error': title}}\n"
    )
    await holds(
        contract,
        {**GAME_PIECES, "add_game": made},
        "answer = add_game('Go')\nassert (answer.status, answer['error']) == (409, 'Go')",
    )


async def test_rows_of_an_earlier_version_have_what_was_added_since() -> None:
    kept = """def see_total(user: str):
    store._db.execute("INSERT INTO rows (name, key, body) VALUES ('items', '99', ?)",
                      ('{"id": 99, "user": "old"}',))
    (row,) = store.all("items", user="old")
    return 200, {"total": [row["quantity"], row["product"], store.get("items", 99)["unit_price"]]}
"""
    await holds(
        CART_CONTRACT,
        {**PIECES, "see_total": kept},
        f"{TOKEN}answer = http('GET', '/cart/total', headers=headers)\n"
        "assert answer.json()['total'] == [0, None, 0.0], answer.text",
    )
