"""Scripts for services that are written whole, in any language: notes, readings, short links."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.events import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sentence, its plan, and for each of its requirements the tests of a critic."""

    task: str
    tables: dict[str, Json]
    routes: Sequence[dict[str, Json]]
    dialogues: Mapping[str, str]
    """By the words of the task."""

    def script(self, *programs: str) -> dict[str, object]:
        """What models say; coders have these programs, one after the other."""
        required = [{"what": each, "quote": each, "refuses": False} for each in self.dialogues]
        plan = json.dumps({"tables": self.tables, "routes": list(self.routes)})
        replies = [
            {"role": "slow", "when": "What is such a program called?", "text": "some service"},
            {"role": "slow", "when": "A service answers HTTP requests and", "text": "nothing"},
            {
                "role": "slow",
                "when": "Split a task",
                "text": json.dumps({"requirements": required}),
            },
            {"role": "slow", "when": "Does somebody have to prove", "text": "nobody"},
            {"role": "slow", "when": "You plan an HTTP service", "text": plan},
            *({"role": "coder", "text": program} for program in programs),
        ]
        replies += [
            {"role": "critic", "when": f'is done: "{quote}"', "text": f"```python\n{tests}```"}
            for quote, tests in self.dialogues.items()
        ]
        return {"name": "service", "replies": replies}


def route(
    quote: str,
    function: str,
    asked: str,
    *,
    takes: dict[str, Json] | None = None,
    status: int = 200,
    gives: Json = None,
    missing: str = "",
) -> dict[str, Json]:
    """One route as a slow thinker describes it."""
    method, _, path = asked.partition(" ")
    refuses: list[Json] = [{"status": 404, "when": f"there is no such {missing}"}]
    return {
        "quote": quote,
        "function": function,
        "method": method,
        "path": path,
        "takes": takes or {},
        "status": status,
        "gives": gives,
        "refuses": refuses if missing else [],
    }


_NOTE: dict[str, Json] = {"title": "Milk", "text": "two litres"}
_KEPT: dict[str, Json] = {"id": 1, **_NOTE}
_FIRST = '    first = create_note(title="Tea", text="green")\n'
_GONE = "    assert read_note(first['id'] + 999).status == 404\n"


def notes(language: str) -> Plan:
    """Notes with a title and a text."""
    added, listed, read = "adds notes with a title and a text", "lists all notes", "shows one note"
    changed, deleted = "changes a note", "deletes a note"
    told = f"{added}, {listed}, {read}, {changed} and {deleted}"
    return Plan(
        task=f"A REST API in {language} that {told}",
        tables={"notes": {"id": "integer", "title": "string", "text": "string"}},
        routes=(
            route(added, "create_note", "POST /notes", takes=_NOTE, status=201, gives=_KEPT),
            route(listed, "list_notes", "GET /notes", gives=[_KEPT]),
            route(read, "read_note", "GET /notes/{id}", gives=_KEPT, missing="note"),
            route(
                changed, "update_note", "PUT /notes/{id}", takes=_NOTE, gives=_KEPT, missing="note"
            ),
            route(deleted, "delete_note", "DELETE /notes/{id}", status=204, missing="note"),
        ),
        dialogues={
            added: f"def test_1():\n{_FIRST}    assert first['title'] == 'Tea'\n",
            listed: f"def test_1():\n{_FIRST}    assert len(list_notes()) == 1\n",
            read: f"def test_1():\n{_FIRST}    assert read_note(first['id'])['text'] == 'green'\n"
            f"{_GONE}",
            changed: f"def test_1():\n{_FIRST}    update_note(first['id'], 'Tea', 'black')\n"
            "    assert read_note(first['id'])['text'] == 'black'\n",
            deleted: f"def test_1():\n{_FIRST}    assert delete_note(first['id']).status == 204\n"
            "    assert read_note(first['id']).status == 404\n",
        },
    )


_READING: dict[str, Json] = {"sensor": "roof", "value": 21}
_HEARD = '    first = add_reading(sensor="cellar", value=12)\n'


def readings(language: str) -> Plan:
    """What sensors have read."""
    added, listed, read = "remembers what a sensor has read", "lists all readings", "shows one"
    whole: dict[str, Json] = {"id": 1, **_READING}
    return Plan(
        task=f"A web service in {language} that {added}, {listed} and {read} by its number",
        tables={"readings": {"id": "integer", "sensor": "string", "value": "integer"}},
        routes=(
            route(added, "add_reading", "POST /readings", takes=_READING, status=201, gives=whole),
            route(listed, "list_readings", "GET /readings", gives=[whole]),
            route(
                f"{read} by its number",
                "read_reading",
                "GET /readings/{id}",
                gives=whole,
                missing="reading",
            ),
        ),
        dialogues={
            added: f"def test_1():\n{_HEARD}    assert first['sensor'] == 'cellar'\n",
            listed: f"def test_1():\n{_HEARD}    assert list_readings()[0]['value'] == 12\n",
            f"{read} by its number": f"def test_1():\n{_HEARD}"
            "    assert read_reading(first['id'])['value'] == 12\n"
            "    assert read_reading(0).status == 404\n",
        },
    )


_PLACE = "https://example.com/a"
_SHORT = f'    first = shorten(url="{_PLACE}")\n'


def links(language: str) -> Plan:
    """Short names for long addresses."""
    made, followed = "makes a short code for a URL", "leads whoever asks for the code to the URL"
    return Plan(
        task=f"An HTTP service in {language} that {made}, and {followed}",
        tables={"links": {"id": "integer", "code": "string", "url": "string"}},
        routes=(
            route(
                made,
                "shorten",
                "POST /shorten",
                takes={"url": _PLACE},
                status=201,
                gives={"code": "aB3"},
            ),
            route(followed, "follow", "GET /{code}", status=302, missing="code"),
        ),
        dialogues={
            made: f"def test_1():\n{_SHORT}    assert first.status == 201 and first['code']\n",
            followed: f"def test_1():\n{_SHORT}    answer = follow(first['code'])\n"
            f"    assert answer.headers.get('Location') == {_PLACE!r}\n"
            "    assert follow('0').status == 404\n",
        },
    )
