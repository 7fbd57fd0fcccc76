"""Plans that are written as stubs."""

import pytest

from twinsmith.core.planning.contract import Field, Refusal, signature
from twinsmith.core.planning.contract_examples import example_for
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.plan_stubs import plan_in

STUBS = '''Here is the plan:
```python
from somewhere import post, get

shelves = Table(id=int, label=str, load=float, tags=list[str], closed=bool | None)

@post("/shelves", status=201)
def add_shelf(label: str, load: float = 2.5):
    """keeps shelves"""
    if not label:
        refuse(400, "there is no label")
    return {"id": 1, "label": "A-1", "load": 2}

@app.get("/shelves?label=A", status=200)
def list_shelves(page: int = 1, *, size: Optional[int] = None):
    """lists shelves"""
    return {"total": 3, "items": [{"id": 1, "label": "A-1"}, ...], "page": page}

@get("/shelves/{id}/label", status=200)
def label_of(id: int):
    return f"shelf {id}"

@post("/shelves/{id}/open", status=303)
def open_shelf(id: int):
    return "/shelves"

@post("/lines", body="text", status=200)
def count_lines(text: str):
    return "3 lines"

@put("/shelves/{id}", status=200)
def change_shelf(id: int, label: str):
    pass

def helper(): return 1
```'''


class TestReading:
    contract = read_contract(STUBS, "keeps shelves, lists shelves", login="")

    def test_tables(self) -> None:
        assert [table.text() for table in self.contract.tables] == [
            "shelves(id: int, label: str, load: float, tags: list, closed: bool)"
        ]

    def test_what_is_sent_is_what_the_stub_takes(self) -> None:
        add = self.contract.called("add_shelf")
        assert (add.method, add.path, add.status, add.quote) == (
            "POST",
            "/shelves",
            201,
            "keeps shelves",
        )
        assert add.takes == (
            Field(name="label", example='"A-1"'),
            Field(name="load", kind="number", example="2", required=False, default="2.5"),
        )
        assert add.refuses == (Refusal(status=400, when="there is no label"),)
        assert signature(add, self.contract) == "def add_shelf(label: str, load: float = 2.5):"

    def test_a_query_in_the_path_may_be_sent(self) -> None:
        listed = self.contract.called("list_shelves")
        assert (listed.path, listed.accepts) == ("/shelves", "query")
        assert signature(listed, self.contract) == (
            "def list_shelves(page: int = 1, size: int | None = None, label: str = ''):"
        )
        example = {"total": 3, "items": [{"id": 1, "label": "A-1"}], "page": 1}
        assert listed.example() == example

    def test_other_answers_than_json(self) -> None:
        label, moved, lines = map(self.contract.called, ("label_of", "open_shelf", "count_lines"))
        assert (label.answers, label.example()) == ("text", "shelf …")
        assert (moved.answers, moved.status) == ("redirect", 303)
        assert (lines.accepts, lines.takes) == ("text", (Field(name="text"),))

    def test_an_answer_that_nobody_gave_is_the_row_that_its_neighbours_show(self) -> None:
        assert self.contract.called("change_shelf").example() == {
            "id": 1,
            "label": "A-1",
            "load": 2,
        }

    def test_what_was_cut_in_the_middle_of_a_stub_is_used_up_to_it(self) -> None:
        cut = STUBS.partition("def label_of")[0]
        contract = read_contract(cut, "", login="")
        assert [each.function for each in contract.pieces] == ["add_shelf", "list_shelves"]

    @pytest.mark.parametrize("text", ["", "no plan", "```python\nx = 1\n```", '{"routes": []}'])
    def test_what_has_no_stubs_is_no_plan(self, text: str) -> None:
        assert plan_in(text) is None


@pytest.mark.parametrize("login", [True, False])
def test_the_example_of_the_prompt_can_be_read(login: bool) -> None:
    task, stubs = example_for(login=login)
    contract = read_contract(stubs, task, login="Members who are logged in" if login else "")
    assert [each.function for each in contract.pieces] == [
        "add_telescope",
        "point_telescope",
        "list_telescopes",
        "telescope_cost",
        "remove_telescope",
    ]
    assert contract.called("point_telescope").login is login
    assert not contract.called("list_telescopes").login
    assert all(each.quote in task for each in contract.pieces)


DIARY = '''```python
@post("/signup", status=201)
def sign_up(name: str, password: str):
    return {"id": 1, "name": "ann", "password": "x"}

@post("/login", status=200)
def log_in(name: str, password: str):
    """log in to get a token"""
    return {"token": "abc"}

@post("/users/{user_id}/entries", status=201)
def write_entry(user_id: int, title: str):
    return {"id": 1, "title": "Monday"}

@post("/entries/{id}/print", status=200)
def print_entry(id: int):
    return {"id": 1, "title": "Monday"}
```'''


class TestMending:
    contract = read_contract(DIARY, "a diary", login="")

    def test_rows_that_no_table_keeps_get_one_and_actions_do_not(self) -> None:
        assert [table.text() for table in self.contract.tables] == ["entries(id: int, title: str)"]

    def test_where_the_plan_gives_tokens_they_are_asked_for(self) -> None:
        write, printed = map(self.contract.called, ("write_entry", "print_entry"))
        assert write.login
        assert printed.login
        assert (write.path, write.takes) == ("/entries", (Field(name="title", example='"Monday"'),))

    def test_nobody_is_told_a_password(self) -> None:
        register = self.contract.part("register")
        assert register is not None
        assert register.example() == {"id": 1, "name": "ann"}

    def test_paths_that_the_task_names_need_no_token_that_it_does_not_ask_for(self) -> None:
        found = read_contract(DIARY, "a diary with /entries/{id}/print", login="")
        assert found.called("write_entry").login
        assert not found.called("print_entry").login

    def test_a_route_about_one_row_says_what_holds_where_there_is_none(self) -> None:
        assert self.contract.called("print_entry").refuses == (
            Refusal(status=404, when="there is none"),
        )
        assert self.contract.called("write_entry").refuses == ()
        contract = TestReading.contract
        # What is put somewhere may be new there.
        assert contract.called("change_shelf").refuses == ()
        assert [each.status for each in contract.called("label_of").refuses] == [404]
