"""Services in other languages than Python: most sentences name routes, fields and statuses."""

from bench.programs_asked import Asked, Wanted

POLLS = Asked(
    name="polls",
    language="go",
    kind="service",
    text=(
        "HTTP API in Go, standard library only, for polls. POST /polls with "
        '{"question": "Tea or coffee?", "options": ["tea", "coffee"]} answers 201 and '
        '{"id": "..."}; fewer than two options is 400. POST /polls/{id}/votes with '
        '{"voter": "ann", "option": "tea"} answers 201; a voter has one vote in a poll, a second '
        "one is 409; an option that the poll does not have is 400. GET /polls/{id}/results answers "
        '{"tea": 1, "coffee": 0}, all options included. Unknown polls are 404.'
    ),
    truth="""
# counts votes
made = http('POST', '/polls', json={'question': 'Tea?', 'options': ['tea', 'coffee', 'milk']})
status(made, 201)
poll = f"/polls/{made.json()['id']}"
assert http('GET', poll + '/results').json() == {'tea': 0, 'coffee': 0, 'milk': 0}
for voter, option in (('a', 'tea'), ('b', 'tea'), ('c', 'milk')):
    status(http('POST', poll + '/votes', json={'voter': voter, 'option': option}), 201)
results = http('GET', poll + '/results')
status(results, 200)
assert results.json() == {'tea': 2, 'coffee': 0, 'milk': 1}

# counts nobody twice
body = {'question': 'Yes?', 'options': ['yes', 'no']}
one, two = (f"/polls/{http('POST', '/polls', json=body).json()['id']}" for _ in range(2))
assert one != two
status(http('POST', one + '/votes', json={'voter': 'a', 'option': 'yes'}), 201)
for option in ('yes', 'no'):
    status(http('POST', one + '/votes', json={'voter': 'a', 'option': option}), 409)
status(http('POST', two + '/votes', json={'voter': 'a', 'option': 'no'}), 201)
assert http('GET', one + '/results').json() == {'yes': 1, 'no': 0}
assert http('GET', two + '/results').json() == {'yes': 0, 'no': 1}

# refuses what makes no sense
for options in ([], ['one']):
    status(http('POST', '/polls', json={'question': 'Q', 'options': options}), 400)
body = {'question': 'Yes?', 'options': ['yes', 'no']}
poll = f"/polls/{http('POST', '/polls', json=body).json()['id']}"
status(http('POST', poll + '/votes', json={'voter': 'a', 'option': 'maybe'}), 400)
assert http('GET', poll + '/results').json() == {'yes': 0, 'no': 0}
status(http('POST', poll + '/votes', json={'voter': 'a', 'option': 'yes'}), 201)
status(http('GET', '/polls/no-such-poll/results'), 404)
status(http('POST', '/polls/no-such-poll/votes', json={'voter': 'a', 'option': 'yes'}), 404)
""",
)

LENGTHS = Asked(
    name="lengths",
    language="rust",
    kind="service",
    text=(
        "A web service in Rust (only std, no crates) that converts lengths. "
        'GET /convert?value=10&from=km&to=mi answers 200 with JSON like {"value": 6.2137119}. '
        "Units: m, km, cm, ft (0.3048 m), mi (1609.344 m). An unknown unit, a value that is not a "
        "number or a missing parameter is 400. GET /units answers the JSON array of the unit names "
        "in alphabetical order. Anything else is 404."
    ),
    truth="""
# converts
for value, one, other, wanted in (
    ('10', 'km', 'mi', 6.2137119), ('1', 'mi', 'km', 1.609344), ('2.5', 'm', 'cm', 250),
    ('100', 'ft', 'm', 30.48), ('0', 'cm', 'km', 0), ('-3', 'm', 'cm', -300), ('7', 'ft', 'ft', 7),
    ('5280', 'ft', 'mi', 1),
):
    reply = http('GET', f'/convert?value={value}&from={one}&to={other}')
    status(reply, 200)
    assert abs(reply.json()['value'] - wanted) < 1e-5

# takes parameters in any order
reply = http('GET', '/convert?to=cm&from=m&value=1')
status(reply, 200)
assert abs(reply.json()['value'] - 100) < 1e-9

# refuses what it cannot convert
for query in ('value=1&from=m&to=parsec', 'value=1&from=xx&to=m', 'value=ten&from=m&to=km',
              'from=m&to=km', 'value=1&to=km', 'value=1&from=m', ''):
    status(http('GET', f'/convert?{query}'), 400)

# lists its units, and knows no other path
assert http('GET', '/units').json() == ['cm', 'ft', 'km', 'm', 'mi']
status(http('GET', '/nowhere'), 404)
""",
)

HITS = Asked(
    name="hits",
    language="perl",
    kind="service",
    text=(
        "Perl web server (core modules only) that counts hits per name. POST /hits/NAME adds one "
        "and answers the new count as plain text, GET /hits/NAME answers the count (0 if nobody "
        "ever hit it), DELETE /hits/NAME sets it back and answers 204 with an empty body. "
        "GET /hits answers one line `NAME COUNT` for each name that has hits, the most hits first, "
        "names with as many hits in alphabetical order. A NAME may have letters, digits and "
        "dashes, anything else is 400."
    ),
    truth="""
# counts
assert http('GET', '/hits/fresh').text.strip() == '0'
for n in (1, 2, 3):
    reply = http('POST', '/hits/page-1')
    good(reply)
    assert reply.text.strip() == str(n) and reply.headers['Content-Type'].startswith('text/plain')
assert http('GET', '/hits/page-1').text.strip() == '3'
assert http('POST', '/hits/Page2').text.strip() == '1'

# sets a count back
http('POST', '/hits/back')
reply = http('DELETE', '/hits/back')
status(reply, 204)
assert reply.text == ''
assert http('GET', '/hits/back').text.strip() == '0'
assert http('POST', '/hits/back').text.strip() == '1'
http('DELETE', '/hits/back')

# lists names, the most hits first
for name in ('zz', 'zz', 'mm', 'aa', 'zz', 'kk', 'kk'):
    http('POST', f'/hits/{name}')
http('GET', '/hits/never')
lines = http('GET', '/hits').text.splitlines()
mine = [line for line in lines if line.split()[0] in ('zz', 'mm', 'aa', 'kk', 'never', 'back')]
assert mine == ['zz 3', 'kk 2', 'aa 1', 'mm 1']

# refuses other names
for name in ('a_b', 'a.b', '%20', 'x!'):
    status(http('POST', f'/hits/{name}'), 400)
""",
)

STORE = Asked(
    name="store",
    language="cpp",
    kind="service",
    text=(
        "A tiny file store over HTTP in C++ (plain sockets, no libraries): PUT /files/NAME keeps "
        "the request body under that name, 201 if the name is new and 200 if it replaces "
        "something. GET /files/NAME gives the body back byte for byte, DELETE /files/NAME removes "
        "it (204). GET /files lists the names, one a line, sorted. 404 for a name that is not "
        "there. Everything is kept in memory."
    ),
    truth="""
# gives back what it was given
for name, text in (('a.txt', 'hello'), ('b', 'two\\nlines\\n'), ('c', ''), ('d', 'ü' * 2000)):
    status(http('PUT', f'/files/{name}', body=text), 201)
    reply = http('GET', f'/files/{name}')
    status(reply, 200)
    assert reply.text == text

# replaces
status(http('PUT', '/files/again', body='old'), 201)
status(http('PUT', '/files/again', body='new'), 200)
assert http('GET', '/files/again').text == 'new'

# removes
status(http('PUT', '/files/short', body='x'), 201)
status(http('DELETE', '/files/short'), 204)
status(http('GET', '/files/short'), 404)
status(http('DELETE', '/files/short'), 404)
status(http('PUT', '/files/short', body='y'), 201)

# lists names in order
for name in ('zeta', 'alpha', 'mid'):
    http('PUT', f'/files/{name}', body='x')
names = http('GET', '/files').text.splitlines()
assert names == sorted(names) and {'zeta', 'alpha', 'mid'} <= set(names)
http('DELETE', '/files/mid')
assert 'mid' not in http('GET', '/files').text.splitlines()
status(http('GET', '/files/never'), 404)
""",
)

SNIPPETS = Asked(
    name="snippets",
    language="go",
    kind="service",
    text=(
        "Write a pastebin API in Go using only the standard library. One can save a snippet (its "
        "text in a JSON body), gets an id back, can read the snippet with that id, and delete it. "
        "An empty text is refused. Keep everything in memory, many people use it at once."
    ),
    wanted=(
        Wanted(
            name="save",
            methods=("POST", "PUT"),
            words=("snippet", "paste", "text", "save", "/"),
            fields=(("text", ("text", "content", "body", "code", "snippet")),),
        ),
        Wanted(
            name="read",
            methods=("GET",),
            words=("snippet", "paste", "text", "read", "/"),
            fields=(("id", ("id",)),),
        ),
        Wanted(
            name="delete",
            methods=("DELETE",),
            words=("snippet", "paste", "text", "delete", "/"),
            fields=(("id", ("id",)),),
        ),
    ),
    truth="""
# gives back what was saved
for text in ('hello there', 'ünïcode 日本', 'x' * 5000):
    reply = ask('read', id=id_of(ask('save', text=text)))
    good(reply)
    assert text in reply.text or text in leaves(reply)

# keeps snippets apart
one, two = (id_of(ask('save', text=text)) for text in ('first one', 'other one'))
assert one != two
assert 'first one' in ask('read', id=one).text and 'other one' not in ask('read', id=one).text

# deletes
one = id_of(ask('save', text='away with it'))
good(ask('delete', id=one))
status(ask('read', id=one), 404, 410)

# refuses what makes no sense
refused(ask('save', text=''))
refused(ask('read', id='987654'))
refused(ask('delete', id='987654'))
""",
)

ELSEWHERE = (POLLS, SNIPPETS, LENGTHS, HITS, STORE)
