"""What became of answers, as SQL over the tables: three truths, kept apart, and whose work it was.

A candidate is its author's: the coder whose answer it is made of, the last one where it was asked
again. One that is made of several answers counts for each of their authors, and once for each. A
mix or an edit that no coder was asked for has no author.
"""

from twinsmith.core.operating.remedy import NOTICES

_NOTICES = ", ".join(f"'{each}'" for each in sorted(NOTICES))

SETTLED = (
    # A run with what it was about, and how it ended.
    """CREATE OR REPLACE TEMP TABLE runs AS
       SELECT s.chain, s."day", s."language", coalesce(k."kind", s."kind") AS "kind", s.settings,
              coalesce(e.state, '') AS state, e.winner, e.confidence,
              coalesce(e.state IN ('solved', 'not solved'), false) AS over,
              coalesce(e.state = 'solved', false) AS solved
       FROM starts s LEFT JOIN kinds k USING (chain) LEFT JOIN ends e USING (chain)""",
    # Releases with the build that they come from, and whether they had trouble.
    f"""CREATE OR REPLACE TEMP TABLE releases AS
       WITH served AS (
         SELECT e.app, e."release", s.build, e."action", e."at",
                lag(e."release") OVER (PARTITION BY e.app ORDER BY e."at") AS before
         FROM ends e JOIN starts s USING (chain)
         WHERE e.state = 'done' AND e."action" IN ('deploy', 'rollback') AND e."release" > 0),
       troubled AS (
         SELECT app, arg_min("release", "at") AS "release" FROM incidents GROUP BY app, id
         HAVING NOT bool_and(split_part("text", ': ', 1) IN ({_NOTICES}) OR stage = 'closed')
         UNION SELECT app, before FROM served WHERE "action" = 'rollback')
       SELECT d.build AS chain,
              bool_and((d.app, d."release") NOT IN (SELECT (app, "release") FROM troubled
                       WHERE "release" IS NOT NULL)) AS held
       FROM served d WHERE d."action" = 'deploy' AND d.build <> '' GROUP BY d.build""",
    # The last selection of a run: its checks, the leader, and what did the same as the winner.
    """CREATE OR REPLACE TEMP TABLE judged AS
       SELECT v.chain, v.places, v.cells, l.winner AS leader, l.confidence,
              r.winner, r.over, r.solved,
              coalesce(list_filter(l.clusters, lambda each: list_contains(each, r.winner))[1], [])
                AS alike,
              [place for place in range(1, len(v.places) + 1)
               if list_contains(coalesce(g.given, []), v.places[place])] AS given
       FROM verdicts v JOIN runs r USING (chain)
       JOIN leads l ON l.chain = v.chain AND l."seq" = v."seq"
       LEFT JOIN (SELECT chain, list(DISTINCT number) FILTER (given) AS given
                  FROM checks GROUP BY chain) g ON g.chain = v.chain""",
    # Every candidate with what is true of it; NULL where nobody knows.
    """CREATE OR REPLACE TEMP TABLE candidates_seen AS
       SELECT c.chain, c."seq", c."day", c.number, c.ensemble, c.broken, c.nths,
              coalesce(r.solved AND r.winner = c.number, false) AS won,
              CASE WHEN r.over THEN r.solved AND (r.winner = c.number
                   OR list_contains(coalesce(j.alike, []), c.number)) END AS accepted,
              CASE WHEN len(list_filter(j.letters, lambda each: each NOT IN ('', '.'))) > 0
                   THEN len(list_filter(j.letters, lambda each: each <> 'p')) = 0 END AS "right",
              CASE WHEN r.solved AND r.winner = c.number THEN d.held END AS held
       FROM candidates c LEFT JOIN runs r USING (chain) LEFT JOIN releases d USING (chain)
       LEFT JOIN (
         SELECT chain, alike, CAST(number AS BIGINT) AS number,
                [substr(row, place, 1) for place in given] AS letters
         FROM (SELECT chain, alike, given, unnest(map_keys(cells)) AS number,
                      unnest(map_values(cells)) AS row FROM judged)
         WHERE TRY_CAST(number AS BIGINT) IS NOT NULL) j
         ON j.chain = c.chain AND j.number = c.number""",
    """CREATE OR REPLACE TEMP TABLE tries_of AS
       SELECT t.*, t.chain AS run, coalesce(v.version, '') AS version,
       coalesce(r."language", '') AS "language", coalesce(r."kind", '') AS "kind",
       coalesce(r.settings, '') AS settings
       FROM tries t LEFT JOIN runs r USING (chain)
       LEFT JOIN (SELECT chain, model, arg_max(version, "seq") AS version
                  FROM calls GROUP BY chain, model) v ON v.chain = t.chain AND v.model = t.model""",
    # Candidates with their authors.
    """CREATE OR REPLACE TEMP TABLE work_of AS
       SELECT c.* EXCLUDE (ensemble), c.chain AS run, coalesce(a.model, '') AS model,
              coalesce(a.version, '') AS version, coalesce(a.role, '') AS role,
              coalesce(a.ensemble, CAST(c.ensemble AS VARCHAR)) AS ensemble,
              coalesce(a.template, '') AS template,
              coalesce(a.template_version, '') AS template_version,
              coalesce(r."language", '') AS "language", coalesce(r."kind", '') AS "kind",
              coalesce(r.settings, '') AS settings
       FROM (SELECT * EXCLUDE (nths), unnest(CASE WHEN len(nths) > 0 THEN nths ELSE [-1] END) AS nth
             FROM candidates_seen) c
       LEFT JOIN (SELECT chain, nth, arg_max(model, (retry, "seq")) AS model,
                    arg_max(version, (retry, "seq")) AS version, 'coder' AS role,
                    arg_max(ensemble, (retry, "seq")) AS ensemble,
                    arg_max(template, (retry, "seq")) AS template,
                    arg_max(template_version, (retry, "seq")) AS template_version
                  FROM calls WHERE role = 'coder' AND nth >= 0 GROUP BY chain, nth) a
         ON a.chain = c.chain AND a.nth = c.nth
       LEFT JOIN runs r ON r.chain = c.chain""",
    # Checks of critics, held against the accepted program; a critic's votes propose none.
    """CREATE OR REPLACE TEMP TABLE checks_of AS
       WITH outcome AS (
         SELECT chain, unnest(places) AS number,
                unnest([substr(row, place, 1) for place in range(1, len(places) + 1)]) AS letter
         FROM (SELECT chain, places, cells[CAST(winner AS VARCHAR)] AS row FROM judged
               WHERE solved AND winner IS NOT NULL) WHERE row IS NOT NULL),
       proposed AS (
         SELECT DISTINCT chain, number, unnest(critics) AS ensemble FROM checks WHERE NOT given),
       critics AS (
         SELECT DISTINCT chain, ensemble, model, version, template, template_version FROM calls
         WHERE role = 'critic' AND template <> 'decide' AND NOT unusable)
       SELECT p.chain, p.chain AS run, p.number, o.letter = 'p' AS agreed, w.model, w.version,
              'critic' AS role, w.ensemble, w.template, w.template_version,
              r."language", r."kind", r.settings, r."day"
       FROM proposed p JOIN outcome o USING (chain, number)
       JOIN critics w ON w.chain = p.chain AND w.ensemble = CAST(p.ensemble AS VARCHAR)
       JOIN runs r ON r.chain = p.chain WHERE o.letter NOT IN ('', '.')""",
    # Whether what one ensemble was told by the other changed the result.
    """CREATE OR REPLACE TEMP TABLE exchanged AS
       SELECT x.chain, r.over, coalesce(bool_or(r.solved AND c.number IS NOT NULL AND NOT coalesce(
              list_contains(j.alike, l.winner) OR l.winner = r.winner, false)), false) AS changed
       FROM crossings x JOIN runs r USING (chain) LEFT JOIN judged j USING (chain)
       LEFT JOIN candidates c ON c.chain = x.chain AND c.number = r.winner
         AND c.ensemble = x."to" AND c."seq" > x."seq"
       LEFT JOIN LATERAL (SELECT arg_max(winner, "seq") AS winner FROM leads
                          WHERE leads.chain = x.chain AND leads."seq" < x."seq") l ON true
       GROUP BY x.chain, r.over""",
    # How sure a run was of its leader, and whether it was right.
    """CREATE OR REPLACE TEMP TABLE said AS
       SELECT j.chain, r."day", least(greatest(coalesce(r.confidence, j.confidence), 0), 1)
                AS confidence, c.number, r.solved AS outcome, c."right" AS tests,
              c.held AS operation
       FROM judged j JOIN runs r USING (chain)
       JOIN candidates_seen c ON c.chain = j.chain AND c.number = coalesce(r.winner, j.leader)
       WHERE j.over AND isfinite(coalesce(r.confidence, j.confidence))""",
)
"""What is worked out anew when more was read, each from those above it."""
SEEN = (
    # Calls, and what else is counted beside them, with all that they can be told apart by.
    *(
        f"""CREATE VIEW {name}_of AS SELECT t.*, t.chain AS run{more}, coalesce(r."language", '')
            AS "language", coalesce(r."kind", '') AS "kind", coalesce(r.settings, '') AS settings
            FROM {name} t LEFT JOIN runs r USING (chain)"""
        for name, more in (("calls", ""), ("unanswered", ", '' AS model, '' AS version"))
    ),
    # Every try to get an answer, those in vain too.
    """CREATE VIEW attempts_of AS
       SELECT chain, run, "day", model, version, role, ensemble, template, template_version,
              "language", "kind", settings, false AS failed FROM calls_of WHERE NOT cached
       UNION ALL BY NAME
       SELECT chain, run, "day", model, version, role, ensemble, template, template_version,
              "language", "kind", settings, true AS failed FROM tries_of""",
)
"""Views over all of that, made once: calls are many, so nothing of them is kept twice."""
