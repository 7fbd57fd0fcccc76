import json

import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.planning.requirement import (
    MOST_REQUIREMENTS,
    Requirement,
    Requirements,
    merged,
    quoted,
    read_requirements,
    same,
    says_more,
    with_clauses,
    with_more,
    words_of,
)

TASK = (
    "Create a REST API in Python for a library: members borrow books, return them, and see who has "
    "a book; a book that is lent cannot be borrowed."
)
BORROW, LENT = "members borrow books", "a book that is lent cannot be borrowed"


def reply(*quotes: str, refuses: bool = False) -> str:
    listed = [{"what": f"it {quote}", "quote": quote, "refuses": refuses} for quote in quotes]
    return json.dumps({"requirements": listed})


def of(*quotes: str, login: str = "") -> Requirements:
    each = tuple(Requirement(number=n, what=q, quote=q) for n, q in enumerate(quotes, 1))
    return Requirements(each=each, login=login)


def quotes(found: Requirements) -> list[str]:
    return [each.quote for each in found.each]


def test_a_word_of_one_thinker_is_part_of_what_the_other_one_said() -> None:
    both = merged(of("listed", "plants are added"), of("all plants are listed"))
    assert quotes(both) == ["plants are added", "all plants are listed"]
    assert [each.number for each in both.each] == [1, 2]


class TestReading:
    def test_each_has_a_number_and_the_words_of_the_task(self) -> None:
        found = read_requirements(reply(BORROW, "return them"), TASK)
        assert found.each == (
            Requirement(number=1, what=f"it {BORROW}", quote=BORROW),
            Requirement(number=2, what="it return them", quote="return them"),
        )

    def test_only_true_says_that_something_is_refused(self) -> None:
        (first,) = read_requirements(reply(LENT, refuses=True), TASK).each
        assert first.refuses
        (other,) = read_requirements(reply(LENT).replace("false", '"true"'), TASK).each
        assert not other.refuses

    def test_capitals_and_spaces_are_those_of_the_task(self) -> None:
        assert quotes(read_requirements(reply("Members  BORROW books"), TASK)) == [BORROW]

    def test_what_the_task_does_not_say_is_left_out(self) -> None:
        assert quotes(read_requirements(reply(BORROW, "admins pay late fees"), TASK)) == [BORROW]

    def test_that_it_is_a_program_is_no_requirement(self) -> None:
        assert quotes(read_requirements(reply("Create a REST API in Python", BORROW), TASK)) == [
            BORROW
        ]

    def test_the_same_in_other_words_counts_once(self) -> None:
        assert quotes(read_requirements(reply(BORROW, "members borrow"), TASK)) == [BORROW]

    def test_one_word_of_a_list_counts_where_nothing_else_covers_it(self) -> None:
        task = "An API for plants: plants with name, pot and spot are added, listed, and watered"
        added = "plants with name, pot and spot are added"
        assert quotes(read_requirements(reply("listed", "watered", added), task)) == [
            added,
            "listed",
            "watered",
        ]
        # A field, which is part of what is asked; a word out of a sentence; the program itself.
        assert quotes(read_requirements(reply("pot", added, "plants", "API"), task)) == [added]
        assert quotes(read_requirements(reply("pot"), task)) == ["pot"]

    def test_without_a_what_the_quote_says_it(self) -> None:
        text = json.dumps({"requirements": [{"quote": BORROW}, "odd", 5]})
        (found,) = read_requirements(text, TASK).each
        assert found.what == BORROW

    @pytest.mark.parametrize(
        "text", ["no", "{}", '{"requirements": 5}', reply("admins pay late fees")]
    )
    def test_none_is_a_bad_reply_in_one_line(self, text: str) -> None:
        with pytest.raises(BadReply) as caught:
            read_requirements(text, TASK)
        assert "\n" not in str(caught.value)

    def test_there_is_a_most(self) -> None:
        letters = [f"alpha{n} beta{n}" for n in range(20)]
        found = read_requirements(reply(*letters), " ".join(letters))
        assert len(found.each) == MOST_REQUIREMENTS


class TestWords:
    def test_endings_and_small_words_do_not_count(self) -> None:
        assert words_of("The users are borrowing a book") == words_of("user borrows books")

    @pytest.mark.parametrize(
        ("one", "other", "alike"),
        [
            ("members borrow books", "borrow books", True),
            ("members borrow books", "members return books", True),
            ("see the total", "remove them", False),
            ("", "anything", False),
        ],
    )
    def test_same(self, one: str, other: str, *, alike: bool) -> None:
        assert same(one, other) is same(other, one) is alike

    @pytest.mark.parametrize(
        ("quote", "found"),
        [
            (BORROW, BORROW),
            ("MEMBERS BORROW BOOKS", BORROW),
            ("pay late fees", ""),
            ("", ""),
        ],
    )
    def test_quoted(self, quote: str, found: str) -> None:
        assert quoted(quote, TASK) == found

    @pytest.mark.parametrize(
        ("quote", "more"),
        [
            ("Create a simple web service in Go", False),
            ("a REST API in Python", False),
            (BORROW, True),
        ],
    )
    def test_says_more(self, quote: str, *, more: bool) -> None:
        assert says_more(quote) is more


class TestCovering:
    def test_words_that_nobody_covers_are_told_in_order(self) -> None:
        assert of(BORROW, "return them").uncovered(TASK) == ("see", "lent", "cannot")
        assert of(TASK).uncovered(TASK) == ()

    def test_words_of_accounts_are_covered_by_them(self) -> None:
        task = "members with a password borrow books"
        assert of("borrow books", login="members with a password").uncovered(task) == ()

    def test_a_clause_that_nobody_covers_is_a_requirement_of_its_own(self) -> None:
        found = with_clauses(
            of(BORROW, "return them", "see who has a book"),
            f"{TASK} Late members pay twenty cents a day.",
        )
        assert quotes(found)[-1] == "Late members pay twenty cents a day"
        assert [each.number for each in found.each] == list(range(1, len(found.each) + 1))

    def test_what_is_covered_stays_as_it_is(self) -> None:
        found = of(BORROW, "return them", "see who has a book", LENT)
        assert with_clauses(found, TASK) == found

    def test_both_slow_thinkers_are_heard_once(self) -> None:
        both = merged(of(BORROW), of("members borrow", "return them"))
        assert quotes(both) == [BORROW, "return them"]
        assert [each.number for each in both.each] == [1, 2]

    def test_more_may_be_added_in_other_words(self) -> None:
        found = with_more(of(BORROW), ["GET /books"])
        assert [(each.number, each.quote) for each in found.each] == [
            (1, BORROW),
            (2, "GET /books"),
        ]
