"""The words that a passage is found by."""

from twinsmith.adapters.knowledge.store import split_identifiers


def test_names_are_split_into_their_words() -> None:
    assert split_identifiers("os.readFile(std::vector_map, HTTPServer2)") == [
        *("os.readfile", "os", "readfile", "read", "file"),
        *("std::vector_map", "std", "vector_map", "vector", "map"),
        *("httpserver2", "http", "server2"),
    ]
    assert split_identifiers("__init__ größeÄndern x") == [
        *("__init__", "init", "größeändern", "größe", "ändern", "x")
    ]
    assert split_identifiers("a" * 10_000 + " ... ::  -> \0 'ok'") == ["ok"]
