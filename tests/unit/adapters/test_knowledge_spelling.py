"""One statement, as each database reads it."""

from twinsmith.adapters.knowledge import postgres_tables, sqlite_tables

STATEMENT = "SELECT {newest} FROM documents WHERE {named} AND number {among} AND who = ?"


def test_sqlite_reads_it() -> None:
    assert sqlite_tables.SPELLING.of(STATEMENT) == (
        "SELECT (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'passages') "
        "FROM documents WHERE source = ? AND path = ? "
        "AND number IN (SELECT value FROM json_each(?)) AND who = ?"
    )


def test_postgresql_reads_it() -> None:
    assert postgres_tables.SPELLING.of(STATEMENT) == (
        "SELECT (SELECT newest FROM state) FROM documents "
        r"WHERE name = sha256(convert_to(%s, 'UTF8') || '\x00' || convert_to(%s, 'UTF8')) "
        "AND number = ANY(translate(%s, '[]', '{}')::bigint[]) AND who = %s"
    )
