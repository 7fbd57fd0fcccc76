"""Services from a script: who is asked for what, what is written anew, and what counts as met."""

import json
import re
from dataclasses import replace

import pytest

from tests.cart import EFFORT, Cart, cart_job, unmet
from tests.service_scripts import CART, DIALOGUES, PIECES, PLAN
from tests.worlds import passage
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.core.budget import Budget
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.knowing.knowledge import Channel, Hit
from twinsmith.core.model import Prompt
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.probe import ABOUT_ACCOUNTS, Probes
from twinsmith.core.program import Program

FORGETFUL = PIECES["see_total"].replace('row["quantity"] * ', "")
CARELESS = "def remove_item(user: str, id: int):\n    return 204, {}\n"
NOTHING_KEPT = 'def test_1():\n    assert see_total("ann")["total"] == 0\n'


async def test_the_right_pieces_are_a_solved_service() -> None:
    world, job = Cart(), cart_job()
    outcome = await world.build(job)
    assert outcome.solved, outcome.reason
    stages = ["clarify", "requirements", "contract", "retrieve", "explore", "gate", "accept"]
    assert world.stages() == stages
    # Both ensembles write every piece once, and both critics see every requirement.
    assert sorted(world.pieces()) == sorted([*PIECES, *PIECES])
    assert len(world.prompts("critic")) == 8
    report = json.loads(world.files(job)["report.json"])
    assert [each["met"] for each in report["requirements"]] == [True] * 4
    assert all(each["shown"] for each in report["requirements"])


async def test_a_service_is_tried_before_any_critic_is_asked() -> None:
    world = Cart()
    right, runs = world.say, []

    def say(prompt: Prompt) -> str:
        if prompt.role == "critic":
            runs.append(world.runs)
        return right(prompt)

    world.say = say
    await world.build(cart_job())
    assert runs[0] == 2


async def test_what_is_handed_over_says_how_to_run_and_test_it() -> None:
    world, job = Cart(), cart_job()
    await world.build(job)
    files = world.files(job)
    expected = {"solution.py", "kit.py", "contract.py", "README.md", "checks.json", "report.md"}
    assert expected | {"test_solution.py", "openapi.json", "requirements.txt"} <= set(files)
    assert "DELETE /cart/items/{id}" in files["README.md"]
    assert json.loads(files["openapi.json"])["paths"]["/cart/total"]
    compile(files["test_solution.py"], "test_solution.py", "exec")
    kept = [each["name"] for each in json.loads(files["checks.json"])["checks"]]
    assert "see_total('ann') == 2 * 1.5 + 3 * 0.75" in kept


async def test_critics_are_blind_and_coders_know_one_piece() -> None:
    world = Cart()
    await world.build(cart_job())
    assert not any("store.add" in prompt.text for prompt in world.prompts("critic"))
    for prompt in world.prompts("coder"):
        assert sum(f"def {name}(" in prompt.text for name in PIECES) == 1


async def test_a_total_that_forgets_the_quantity_is_never_called_solved() -> None:
    world, job = Cart({**PIECES, "see_total": FORGETFUL}), cart_job()
    assert "not shown: " in unmet(await world.build(job))
    report = json.loads(world.files(job)["report.json"])
    total = next(each for each in report["requirements"] if each["quote"] == "see the total")
    assert (total["met"], total["shown"]) == (False, [])
    assert "what was expected: see_total('ann') == 2 * 1.5 + 3 * 0.75" in total["why"]
    assert "rejected/solution.py" in world.files(job)


async def test_one_coder_who_is_right_is_enough() -> None:
    world = Cart()
    right = world.say

    def say(prompt: Prompt) -> str:
        if world.piece(prompt) == "see_total" and prompt.ensemble == 1:
            return f"```python\n{FORGETFUL}```"
        return right(prompt)

    world.say = say
    outcome = await world.build(cart_job())
    assert (outcome.solved, outcome.winner) == (True, 2)
    assert len(world.pieces()) == 6


async def test_what_no_check_that_could_fail_has_shown_is_not_met() -> None:
    silent = {quote: text for quote, text in DIALOGUES.items() if quote != "remove them"}
    outcome = await Cart(dialogues=silent).build(cart_job())
    assert "'remove them' (no check that could fail has shown it)" in unmet(outcome)


async def test_a_dialogue_that_an_empty_program_passes_is_dropped() -> None:
    idle = {**DIALOGUES, "see the total": NOTHING_KEPT}
    world, job = Cart(dialogues=idle), cart_job()
    reason = unmet(await world.build(job))
    assert "'see the total' (no check that could fail has shown it)" in reason
    assert "see_total('ann')['total'] == 0" not in world.files(job)["rejected/checks.json"]


async def test_a_piece_that_fails_is_written_anew_and_only_that_piece() -> None:
    dialogues = {
        **DIALOGUES,
        "remove them": DIALOGUES["remove them"]
        + "\n\ndef test_3():\n    assert not remove_item('ann', 7)\n",
    }
    broken = {**PIECES, "remove_item": CARELESS}
    world = Cart(broken, dialogues, later={"remove_item": PIECES["remove_item"]})
    outcome = await world.build(cart_job())
    assert outcome.solved, outcome.reason
    assert list(world.pieces())[6:] == ["remove_item"] * 2
    assert "again 1" in world.stages()
    assert "again 2" not in world.stages()
    # One ensemble is told what failed and what was answered, the other one thinks afresh.
    first, second = [prompt.text for prompt in world.prompts("coder")[6:]]
    assert "An earlier version failed this test:\n" in first
    assert "assert remove_item('bob', first['id']).status == 404\n" in first
    assert "DELETE /cart/items/1 answered 204" in first
    assert "An earlier version" not in second


async def test_an_answer_that_is_no_piece_is_stood_in_for_by_the_others() -> None:
    world = Cart()
    right = world.say
    world.say = lambda prompt: (
        "I would rather not."
        if world.piece(prompt) == "see_total" and prompt.ensemble == 2
        else right(prompt)
    )
    outcome = await world.build(cart_job())
    assert (outcome.solved, len(outcome.verdicts)) == (True, 2)


async def test_without_any_piece_there_is_nothing_to_run() -> None:
    world = Cart({})
    outcome = await world.build(cart_job(effort=replace(EFFORT, candidates=2)))
    assert "does not define add_item" in unmet(outcome)


@pytest.mark.parametrize(("candidates", "asked"), [(1, 1), (2, 2), (3, 3), (5, 5), (40, 8)])
async def test_no_more_are_written_than_was_said(candidates: int, asked: int) -> None:
    world = Foreign("bad")
    outcome = await world.build(
        cart_job(language="go", effort=replace(EFFORT, candidates=candidates))
    )
    assert not outcome.solved
    assert len(world.prompts("coder")) == asked


async def test_with_a_budget_of_nothing_it_ends_honestly() -> None:
    world, job = Cart(), cart_job()
    outcome = await world.build(replace(job, budget=replace(job.budget, tokens=10)))
    assert not outcome.solved
    assert world.billed <= 10


async def test_without_a_plan_nothing_is_written() -> None:
    world = Cart()
    right = world.say
    world.say = lambda p: "no idea" if "You plan an HTTP service" in p.text else right(p)
    outcome = await world.build(cart_job())
    assert unmet(outcome) == "no slow thinker gave a plan of the service that can be used"
    assert world.prompts("coder") == []


class Foreign(Cart):
    """A coder who writes whole services in Go by name; what they would do is told in Python."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._names = names
        self._contract = read_contract(PLAN, CART, login="with user accounts")

    def _answer(self, prompt: Prompt) -> str:
        if prompt.role != "coder":
            return super()._answer(prompt)
        name = self._names[min(prompt.nth, len(self._names) - 1)]
        return f"```go\n{source(name)}```"

    def seen(self, program: Program, probes: Probes) -> Execution:
        if program.language == "python":
            return super().seen(program, probes)
        total = FORGETFUL if '"bad"' in program.source else PIECES["see_total"]
        twin = assembled(self._contract, {**PIECES, "see_total": total}, "")
        return super().seen(twin, probes)


def source(name: str) -> str:
    return f'package main\n\nfunc main() {{\n\tprintln("{name}")\n}}\n'


async def test_another_language_goes_through_the_same_contract_and_dialogues() -> None:
    world, job = Foreign("bad", "good"), cart_job(language="go")
    outcome = await world.build(job)
    assert (outcome.solved, outcome.winner) == (True, 2)
    asked = world.prompts("coder")
    assert [(p.nth, p.ensemble) for p in asked] == [(0, 1), (1, 2)]
    assert "GET /cart/total; needs the header Authorization: Bearer <token>" in asked[0].text
    # What strangers try with accounts decides at once: no kit brings them.
    assert world.stages() == ["clarify", "requirements", "contract", "explore", "accept"]
    files = world.files(job)
    assert "PORT=8000 ./solution" in files["README.md"]
    assert {"solution.go", "test_solution.py", "openapi.json"} <= set(files)


async def test_a_whole_service_is_written_anew_with_what_failed() -> None:
    world = Foreign("bad", "bad", "good")
    outcome = await world.build(cart_job(language="go"))
    assert (outcome.solved, outcome.winner) == (True, 3)
    told = world.prompts("coder")[2].text
    assert "An earlier version failed this test:\n" in told
    assert 'GET /cart/total answered 200 {"total": 1.5}' in told


async def test_a_wrong_service_in_another_language_is_not_called_solved() -> None:
    outcome = await Foreign("bad").build(cart_job(language="go"))
    assert "what was expected: see_total(" in unmet(outcome)


async def test_a_service_of_several_files_is_built_from_all_of_them() -> None:
    world, job = Foreign("good"), cart_job(language="go")
    right = world.say
    more = 'words.go\n```go\npackage main\n\nfunc word() string { return "x" }\n```'
    main = source("good").replace("println(", "println(word(), ")
    text = f"solution.go\n```go\n{main}```\n\n{more}"
    world.say = lambda prompt: text if prompt.role == "coder" else right(prompt)
    assert (await world.build(job)).solved
    files = world.files(job)
    assert "words.go" in files
    assert "go build -o solution solution.go words.go" in files["README.md"]
    assert "'words.go'" in files["test_solution.py"]


SPELLED = """def see_total(user: str):
    import sqlite3
    rows = sqlite3.connect("x.db").execute(f"SELECT price FROM items WHERE user = '{user}'")
    return 200, {"total": sum(row[0] for row in rows)}
"""


async def test_a_function_that_spells_out_sql_is_refused_told_so_and_written_anew() -> None:
    world = Cart({**PIECES, "see_total": SPELLED}, later={"see_total": PIECES["see_total"]})
    seen = world.seen

    def run(program: Program, probes: Probes) -> Execution:
        # It does the right thing as long as nobody is called `' OR '1'='1`.
        right = PIECES["see_total"].partition("\n")[2]
        source = re.sub(
            r"    import sqlite3\n.*?\n\n", lambda _: f"{right}\n", program.source, flags=re.DOTALL
        )
        return seen(replace(program, source=source), probes)

    world.seen = run  # type: ignore[method-assign]
    job = cart_job()
    outcome = await world.build(job)
    assert outcome.solved, outcome.reason
    told = world.prompts("coder")[6]
    assert world.piece(told) == "see_total"
    refused = "An earlier version was refused: SQL is put together from text; use ? for every value"
    assert refused in told.text
    assert "f\"SELECT price FROM items WHERE user = '{user}'\"" in told.text
    # Only the function that the line stands in is written anew.
    assert list(world.pieces())[6:] == ["see_total"] * 2


class Leaky(Cart):
    """A service of the first ensemble that fails at the gate, and one that logs a password."""

    def __init__(self, *, fails: int = 0, log: str = "") -> None:
        super().__init__()
        self._fails, self._log = fails, log
        self.gate = 0

    def seen(self, program: Program, probes: Probes) -> Execution:
        execution = replace(super().seen(program, probes), log=self._log)
        if probes.checks[0].about != ABOUT_ACCOUNTS:
            return execution
        self.gate += 1
        if self.gate > self._fails:
            return execution
        broken = ProbeResult(name="x", outcome="failed", detail="POST /register gave 200")
        return replace(execution, results=(broken, *execution.results[1:]))


async def test_whoever_fails_at_the_gate_does_not_lead() -> None:
    world = Leaky(fails=1)
    outcome = await world.build(cart_job())
    assert (outcome.solved, outcome.winner, world.gate) == (True, 2, 2)
    reason = unmet(await (again := Leaky(fails=9)).build(cart_job()))
    assert "registers a new user, gate: POST /register gave 200" in reason
    assert again.gate == 2


async def test_a_password_in_the_log_bars_a_service() -> None:
    outcome = await Leaky(log="registering ann with Canary!7-ann-pw\n").build(cart_job())
    assert "a password stands in the log" in unmet(outcome)


@pytest.mark.parametrize(("at_once", "all_asked"), [(8, False), (2, True)])
async def test_what_is_set_aside_for_many_at_once_does_not_spend_the_budget(
    monkeypatch: pytest.MonkeyPatch, at_once: int, all_asked: bool
) -> None:
    monkeypatch.setattr("twinsmith.flow.recorder.MOST_AT_ONCE", at_once)
    world = Cart()
    await world.build(replace(cart_job(), budget=Budget(tokens=22_000, seconds=600)))
    assert (len(world.prompts("critic")) == 8) is all_asked


class Known(NothingKnown):
    """Something is near to what removes a row, and little to everything else."""

    async def search(
        self, query: str, k: int, language: str = "", channel: Channel | None = None
    ) -> tuple[Hit, ...]:
        assert (language, channel) == ("python", "dense")
        score = 0.5 if query.startswith("remove item: ") else 0.4
        hit = Hit(passage=passage("def take_away(): ..."), score=score, channel="dense")
        return (hit,)[:k]


async def test_what_is_near_to_a_part_is_shown_to_one_of_its_two_coders() -> None:
    world, job = Cart(), cart_job()
    world.retriever = Known()
    outcome = await world.build(job)
    assert outcome.solved, outcome.reason
    shown = [p for p in world.prompts("coder") if "def take_away" in p.text]
    assert [(world.piece(prompt), prompt.ensemble) for prompt in shown] == [("remove_item", 2)]
    report = json.loads(world.files(job)["report.json"])
    assert [each["path"] for each in report["pieces"]] == ["p.py"]


async def test_where_retrieval_is_off_nothing_is_looked_up() -> None:
    world, job = Cart(), cart_job()
    world.retriever = Known()
    await world.build(replace(job, effort=replace(job.effort, retrieval=False)))
    assert "retrieve" not in world.stages()
    assert not any("def take_away" in prompt.text for prompt in world.prompts("coder"))
