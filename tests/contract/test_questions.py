"""Questions to people: one contract for the dictionary, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.desk.memory import MemoryQuestions
from twinsmith.adapters.desk.questions import QuestionTable
from twinsmith.core.errors import EngineError
from twinsmith.core.people.question import Answer, PersonalQuestion, QuestionRecord
from twinsmith.ports import Questions

ANSWER = Answer(text="grün", by="user:ann", at="2026-11-18T09:00:00+00:00")


def record(name: str = "r1.1", *, asked: str = "2026-11-16T09:00") -> QuestionRecord:
    question = PersonalQuestion(
        id=name, run="r1", text="Which colour?", assumed="blue", choices=("blue", "grün")
    )
    return QuestionRecord(question=question, asked=asked, until="2026-11-19T09:00")


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Questions]:
    """Opens the same questions, each time as another process would."""
    if request.param == "memory":
        only = MemoryQuestions()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: QuestionTable(url)


def test_a_question_is_there_for_everybody(opened: Callable[[], Questions]) -> None:
    assert opened().put(record()) == record()
    assert opened().get("r1.1") == record()
    assert opened().get("r1.2") is None


def test_a_question_that_is_asked_again_keeps_its_time(opened: Callable[[], Questions]) -> None:
    opened().put(record())
    assert opened().put(record(asked="2026-11-17T09:00")) == record()


def test_the_first_answer_counts(opened: Callable[[], Questions]) -> None:
    opened().put(record())
    assert opened().answer("r1.1", ANSWER)
    assert not opened().answer("r1.1", Answer(text="red", by="user:bob", at="x"))
    found = opened().get("r1.1")
    assert found is not None
    assert found.answer == ANSWER
    assert not opened().answer("r1.7", ANSWER)


def test_of_many_answers_at_once_one_counts(opened: Callable[[], Questions]) -> None:
    opened().put(record())
    answers = [Answer(text=f"a{n}", by=f"user:{n}", at="x") for n in range(8)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda given: opened().answer("r1.1", given), answers))
    assert sum(taken) == 1
    found = opened().get("r1.1")
    assert found is not None
    assert found.answer == answers[taken.index(True)]


def test_they_are_listed_by_their_age(opened: Callable[[], Questions]) -> None:
    late, early = record("r1.2", asked="2026-11-18T09:00"), record("r2.1")
    opened().put(late)
    opened().put(early)
    assert opened().listed() == (early, late)


def test_a_database_that_is_away_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for url in (
        f"sqlite:///{tmp_path / 'file' / 'x.db'}",
        "postgresql://nobody:sword-fish-9@127.0.0.1:1/x",
    ):
        with pytest.raises(
            EngineError, match=r"cannot be used: .*see 'twinsmith doctor'"
        ) as caught:
            QuestionTable(url).listed()
        assert "sword-fish-9" not in str(caught.value)
        assert "\n" not in str(caught.value)
