"""The store of record in PostgreSQL, for more than one machine."""

import math

from twinsmith.adapters.knowledge.dialect import Connection
from twinsmith.adapters.knowledge.postgres_connection import PostgresConnection
from twinsmith.adapters.knowledge.postgres_tables import lexeme
from twinsmith.adapters.knowledge.records import RecordStore
from twinsmith.adapters.knowledge.store import MOST_MATCHES, asked_words, worth_scoring


class PostgresStore(RecordStore):
    """A store in a schema of its own; whoever writes makes other writers wait.

    Words are ranked by PostgreSQL's `ts_rank` for each word, which flattens out as a word repeats
    and falls with the logarithm of the length, times how rare the word is: near BM25, not equal.
    """

    def __init__(self, url: str, schema: str = "twinsmith_knowledge") -> None:
        super().__init__(PostgresConnection(url, schema), _lexical)


def _lexical(connection: Connection, query: str, k: int, language: str) -> list[tuple[int, float]]:
    counted = connection.rows(
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM passages WHERE words @@ word::tsquery "
        "LIMIT ?) AS found), word FROM unnest(?::text[]) AS word",
        (MOST_MATCHES, list({lexeme(word) for word in asked_words(query)})),
    )
    asked = worth_scoring((int(matches), str(word)) for matches, word in counted)
    if not asked:
        return []
    words = [word for _, word in asked]
    weights = [math.log1p(MOST_MATCHES / matches) for matches, _ in asked]
    rows = connection.rows(
        "SELECT p.number, (SELECT sum(weight * ts_rank(p.words, word, 1)) "
        "FROM unnest(?::tsquery[], ?::float8[]) AS asked(word, weight)) AS score "
        "FROM passages p WHERE p.words @@ ?::tsquery AND (? = '' OR EXISTS (SELECT 1 "
        "FROM documents d WHERE d.number = p.document AND d.language = ?)) "
        "ORDER BY score DESC, p.number LIMIT ?",
        (words, weights, " | ".join(words), language, language, k),
    )
    return [(int(number), float(score)) for number, score in rows]
