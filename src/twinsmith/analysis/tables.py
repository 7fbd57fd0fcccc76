"""The tables that figures are added up from, and how the lines of a journal come into them.

Members of another type than expected count as absent, as everywhere in twinsmith: a line may come
from another version. Texts and sources of programs stay in the journal.
"""

DATA = """STRUCT(
  "language" VARCHAR, "kind" VARCHAR, "settings" VARCHAR, "app" VARCHAR, "from" VARCHAR,
  "state" VARCHAR, "winner" BIGINT, "confidence" DOUBLE, "action" VARCHAR, "release" BIGINT,
  "role" VARCHAR, "nth" BIGINT, "ensemble" BIGINT, "retry" BIGINT, "template" VARCHAR,
  "template_version" VARCHAR, "model" VARCHAR, "version" VARCHAR, "tokens_in" BIGINT,
  "tokens_out" BIGINT, "first_token_seconds" DOUBLE, "seconds" DOUBLE, "usd" DOUBLE,
  "cached" BOOLEAN, "cut" BOOLEAN, "failed_attempts" VARCHAR[], "unusable" VARCHAR,
  "repairs" VARCHAR[], "candidate" BIGINT, "problem" VARCHAR, "shares" STRUCT("nth" BIGINT)[],
  "columns" BIGINT[], "cells" MAP(VARCHAR, VARCHAR), "clusters" BIGINT[][],
  "checks" STRUCT("number" BIGINT, "given" BOOLEAN, "by" VARCHAR, "ensembles" BIGINT[])[],
  "source" BIGINT, "to" BIGINT, "incident" VARCHAR, "stage" VARCHAR, "text" VARCHAR
)"""
READ = f"""
CREATE OR REPLACE TEMP TABLE fresh AS
SELECT "seq", "at", left("at", 10) AS "day", "run" AS chain, "kind", "data"
FROM read_json($file, format = 'newline_delimited', ignore_errors = true,
  maximum_object_size = 67108864,
  columns = {{"seq": 'BIGINT', "at": 'VARCHAR', "run": 'VARCHAR', "kind": 'VARCHAR',
              "data": '{" ".join(DATA.split())}'}})
WHERE "seq" IS NOT NULL AND "run" IS NOT NULL AND "at" IS NOT NULL
"""
"""One parse of the picked lines; each table takes its own from it."""

MADE = (
    """CREATE TABLE starts(chain VARCHAR, "at" VARCHAR, "day" VARCHAR, "language" VARCHAR,
       "kind" VARCHAR, settings VARCHAR, app VARCHAR, build VARCHAR)""",
    """CREATE TABLE kinds(chain VARCHAR, "kind" VARCHAR)""",
    """CREATE TABLE ends(chain VARCHAR, "at" VARCHAR, state VARCHAR, winner BIGINT,
       confidence DOUBLE, app VARCHAR, "action" VARCHAR, "release" BIGINT)""",
    """CREATE TABLE calls(chain VARCHAR, "seq" BIGINT, "day" VARCHAR, role VARCHAR,
       ensemble VARCHAR, nth BIGINT, retry BIGINT, model VARCHAR, version VARCHAR,
       template VARCHAR, template_version VARCHAR, cached BOOLEAN, tokens_in BIGINT,
       tokens_out BIGINT, usd DOUBLE, seconds DOUBLE, first DOUBLE, read BOOLEAN,
       unusable BOOLEAN, repaired BOOLEAN, cut BOOLEAN)""",
    """CREATE TABLE unanswered(chain VARCHAR, "day" VARCHAR, role VARCHAR, ensemble VARCHAR,
       template VARCHAR, template_version VARCHAR)""",
    """CREATE TABLE tries(chain VARCHAR, "day" VARCHAR, role VARCHAR, ensemble VARCHAR,
       template VARCHAR, template_version VARCHAR, model VARCHAR, refused BOOLEAN)""",
    """CREATE TABLE candidates(chain VARCHAR, "seq" BIGINT, "day" VARCHAR, number BIGINT,
       ensemble BIGINT, broken BOOLEAN, nths BIGINT[])""",
    """CREATE TABLE checks(chain VARCHAR, number BIGINT, given BOOLEAN, critics BIGINT[])""",
    """CREATE TABLE leads(chain VARCHAR, "seq" BIGINT, winner BIGINT, confidence DOUBLE,
       clusters BIGINT[][])""",
    """CREATE TABLE verdicts(chain VARCHAR, "seq" BIGINT, places BIGINT[],
       cells MAP(VARCHAR, VARCHAR))""",
    """CREATE TABLE crossings(chain VARCHAR, "seq" BIGINT, source BIGINT, "to" BIGINT)""",
    """CREATE TABLE incidents("at" VARCHAR, app VARCHAR, "release" BIGINT, id VARCHAR,
       stage VARCHAR, "text" VARCHAR)""",
)
_WHO = """coalesce("data"."role", '') AS role, coalesce(CAST("data"."ensemble" AS VARCHAR), '')
  AS ensemble, coalesce("data"."template", '') AS template,
  coalesce("data"."template_version", '') AS template_version"""
_NUMBER = "CASE WHEN NOT isfinite({0}) THEN 0 ELSE {0} END"
_SECONDS = _NUMBER.format('"data"."seconds"')
_FIRST = _NUMBER.format('"data"."first_token_seconds"')
_USD = _NUMBER.format('"data"."usd"')
# A whole number of this size is none that twinsmith ever tells.
_TOKENS = 'CASE WHEN abs("data"."{0}") < 1000000000000000 THEN "data"."{0}" ELSE 0 END'

TAKEN = (
    """INSERT INTO starts SELECT chain, "at", "day", coalesce("data"."language", ''),
       coalesce("data"."kind", ''), coalesce("data"."settings", ''), coalesce("data"."app", ''),
       coalesce("data"."from", '') FROM fresh WHERE "kind" = 'run.started' AND chain <> 'system'""",
    """INSERT INTO kinds SELECT chain, "data"."kind" FROM fresh WHERE "kind" = 'kind.read'""",
    """INSERT INTO ends SELECT chain, "at", coalesce("data"."state", ''), "data"."winner",
       "data"."confidence", coalesce("data"."app", ''), coalesce("data"."action", ''),
       "data"."release" FROM fresh WHERE "kind" = 'run.ended' AND chain <> 'system'""",
    f"""INSERT INTO calls BY NAME SELECT chain, "seq", "day", {_WHO},
       coalesce("data"."nth", -1) AS nth, coalesce("data"."retry", 0) AS retry,
       coalesce("data"."model", '') AS model, coalesce("data"."version", '') AS version,
       "data"."cached" IS TRUE AS cached, coalesce({_TOKENS.format("tokens_in")}, 0) AS tokens_in,
       coalesce({_TOKENS.format("tokens_out")}, 0) AS tokens_out, {_USD} AS usd,
       coalesce({_SECONDS}, 0) AS seconds, coalesce({_FIRST}, 0) AS first,
       "data"."unusable" IS NOT NULL AS read, coalesce("data"."unusable", '') <> '' AS unusable,
       coalesce(len("data"."repairs"), 0) > 0 AS repaired, "data"."cut" IS TRUE AS cut
       FROM fresh WHERE "kind" = 'model.replied'""",
    f"""INSERT INTO unanswered BY NAME SELECT chain, "day", {_WHO}
       FROM fresh WHERE "kind" = 'model.failed'""",
    f"""INSERT INTO tries BY NAME SELECT * EXCLUDE (told),
       split_part(told, ': ', 1) AS model, told[len(split_part(told, ': ', 1)) + 3:]
       LIKE 'refused: %' AS refused
       FROM (SELECT chain, "day", {_WHO}, unnest("data"."failed_attempts") AS told
             FROM fresh WHERE "kind" = 'model.replied')
       WHERE contains(split_part(told, ': ', 1), ':')
         AND NOT contains(split_part(told, ': ', 1), ' ')""",
    """INSERT INTO candidates SELECT chain, "seq", "day", "data"."candidate",
       coalesce("data"."ensemble", 0), coalesce("data"."problem", '') <> '',
       list_distinct([each."nth" for each in coalesce("data"."shares", [])
                      if each."nth" IS NOT NULL])
       FROM fresh WHERE "kind" = 'candidate.written' AND "data"."candidate" IS NOT NULL""",
    """INSERT INTO checks SELECT chain, told."number", told."given" IS TRUE,
       CASE WHEN told."by" = 'critic' THEN coalesce(told."ensembles", []) ELSE [] END
       FROM (SELECT chain, unnest("data"."checks") AS told FROM fresh
             WHERE "kind" = 'candidates.judged') WHERE told."number" IS NOT NULL""",
    """INSERT INTO leads SELECT chain, "seq", "data"."winner", "data"."confidence",
       coalesce("data"."clusters", []) FROM fresh WHERE "kind" = 'candidates.judged'""",
    """DELETE FROM verdicts WHERE chain IN
       (SELECT chain FROM fresh WHERE "kind" = 'candidates.judged')""",
    """INSERT INTO verdicts SELECT chain, max("seq"),
       arg_max(coalesce("data"."columns", []), "seq"),
       arg_max(coalesce("data"."cells", MAP {}), "seq")
       FROM fresh WHERE "kind" = 'candidates.judged' GROUP BY chain""",
    """INSERT INTO crossings SELECT chain, "seq", "data"."source", "data"."to"
       FROM fresh WHERE "kind" = 'insights.crossed' AND "data"."to" IS NOT NULL""",
    """INSERT INTO incidents SELECT "at", coalesce("data"."app", ''), coalesce("data"."release", 0),
       coalesce("data"."incident", ''), coalesce("data"."stage", ''), coalesce("data"."text", '')
       FROM fresh WHERE "kind" = 'incident.told' AND chain = 'system'""",
    "DROP TABLE fresh",
)
"""What each table takes of the lines that were parsed; only the last verdict of a run is kept."""
OF_RUNS = (
    "starts", "kinds", "ends", "calls", "unanswered", "tries", "candidates", "checks", "leads",
    "verdicts", "crossings",
)  # fmt: skip
"""The tables whose rows belong to one chain."""
