import re
from typing import Any

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.knowing.graph import (
    Edge,
    Node,
    NodeKind,
    NodeRef,
    asked_words,
    hits,
    searchable,
)


@pytest.mark.parametrize(
    ("kind", "key", "properties", "says"),
    [
        ("Thing", "a", {}, "kind 'Thing' is not known; one of Task, Plan"),
        ("Task", "", {}, "key '' of a Task cannot be kept; give 1 to 400 printable"),
        ("Task", "a\0b", {}, r"key 'a\x00b' of a Task cannot be kept"),
        ("Task", "\ud800", {}, r"key '\ud800' of a Task"),
        ("Task", "x" * 401, {}, "give 1 to 400 printable characters"),
        ("Task", "a", {"text": "ab\ud800"}, "'text' of Task 'a' cannot be kept: its text has half"),
        ("Task", "a", {"text": "x" * 1_000_001}, "its text has 1000001 characters; at most"),
        ("Task", "a", {"n": 2**63}, "9223372036854775808 does not fit 64 bits"),
        ("Task", "a", {"n": float("nan")}, "nan is no number"),
        ("Task", "a", {"n": None}, "a NoneType is neither text, number nor truth value"),
        ("Task", "a", {"n": ["x"]}, "a list is neither"),
        ("Task", "a", {"key": "x"}, "property 'key' cannot be kept; a name is a small letter"),
        ("Task", "a", {"n: 1}) //": "x"}, "property 'n: 1}) //' cannot be kept"),
        ("Task", "a", {"Ä": "x"}, "property 'Ä' cannot be kept"),
    ],
)
def test_what_some_database_could_not_keep_is_refused_in_one_line(
    kind: NodeKind, key: str, properties: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)) as error:
        Node(kind=kind, key=key, properties=properties)
    assert "\n" not in str(error.value)


def test_edges_are_checked_too() -> None:
    end = NodeRef(kind="Task", key="a")
    wrong: Any = "DROP"
    with pytest.raises(ConfigError, match="kind 'DROP' is not known; one of CAUSED"):
        Edge(kind=wrong, source=end, target=end)
    with pytest.raises(ConfigError, match="'at' of USED of 'a' cannot be kept"):
        Edge(kind="USED", source=end, target=end, properties={"at": "\udcff"})


def test_a_question_is_the_words_that_tell_something() -> None:
    assert asked_words("How does the readFile of os.path do it?") == ("readfile", "os", "path")
    assert asked_words("what is this") == ("what", "is", "thi")
    assert asked_words("lists list LISTS") == ("list",)
    assert asked_words("?! \udcff \0") == ()
    assert len(asked_words(" ".join(map(str, range(100))))) == 32


def test_names_are_found_whole_and_by_their_parts() -> None:
    known = searchable({"text": "parseHTTPHeader of my_file", "error": "KeyError", "run": "r1"})
    for word in ("parsehttpheader", "parse", "http", "header", "my_file", "my", "file", "keyerror"):
        assert f" {word} " in known
    assert " r1 " not in known
    assert hits(("key", "file", "nothing"), {"text": "my_file", "error": "KeyError"}) == 2
