"""Services whose sentences name routes, fields and statuses, as people do who know what they want.

Truth is read with `http` and `status` (`bench/programs_words.py`).
"""

from bench.programs_asked import Asked

LEDGER = Asked(
    name="ledger",
    language="python",
    kind="service",
    text=(
        "Write a Python web service that keeps account balances in cents. POST /accounts with "
        '{"owner": "ann"} answers 201 and {"id": 1, "owner": "ann", "balance": 0}. '
        "POST /accounts/{id}/deposit and POST /accounts/{id}/withdraw take "
        '{"amount": 250} and answer 200 with the account as it is then. An amount that is not a '
        "positive whole number is 400, taking out more than there is 409, an unknown account 404. "
        "GET /accounts/{id} shows the account."
    ),
    truth="""
# opens an account with nothing in it
made = http('POST', '/accounts', json={'owner': 'ann'})
status(made, 201)
assert made.json()['owner'] == 'ann' and made.json()['balance'] == 0
seen = http('GET', f"/accounts/{made.json()['id']}")
status(seen, 200)
assert seen.json() == made.json()

# pays in and takes out
account = f"/accounts/{http('POST', '/accounts', json={'owner': 'ben'}).json()['id']}"
paid = http('POST', account + '/deposit', json={'amount': 700})
status(paid, 200)
assert paid.json()['balance'] == 700 and paid.json()['owner'] == 'ben'
assert http('POST', account + '/withdraw', json={'amount': 250}).json()['balance'] == 450
assert http('GET', account).json()['balance'] == 450
assert http('POST', account + '/withdraw', json={'amount': 450}).json()['balance'] == 0

# keeps accounts apart
one, two = (http('POST', '/accounts', json={'owner': who}).json()['id'] for who in 'ab')
assert one != two
http('POST', f'/accounts/{one}/deposit', json={'amount': 5})
assert http('GET', f'/accounts/{two}').json()['balance'] == 0

# refuses to take out more than there is
account = f"/accounts/{http('POST', '/accounts', json={'owner': 'cid'}).json()['id']}"
http('POST', account + '/deposit', json={'amount': 100})
status(http('POST', account + '/withdraw', json={'amount': 101}), 409)
assert http('GET', account).json()['balance'] == 100

# refuses amounts that are no positive whole numbers
account = f"/accounts/{http('POST', '/accounts', json={'owner': 'dee'}).json()['id']}"
http('POST', account + '/deposit', json={'amount': 100})
for amount in (0, -5, 1.5, 'ten', None):
    status(http('POST', account + '/deposit', json={'amount': amount}), 400)
    status(http('POST', account + '/withdraw', json={'amount': amount}), 400)
status(http('POST', account + '/deposit', json={}), 400)
assert http('GET', account).json()['balance'] == 100

# knows no account that was not opened
status(http('GET', '/accounts/98765'), 404)
status(http('POST', '/accounts/98765/deposit', json={'amount': 1}), 404)
status(http('POST', '/accounts/98765/withdraw', json={'amount': 1}), 404)
""",
)

CONTACTS = Asked(
    name="contacts",
    language="python",
    kind="service",
    text=(
        "I want a small phone book as an HTTP API in Python. POST /contacts takes JSON with name "
        "and phone, both non-empty strings (else 400), and answers 201 with id, name and phone. "
        "GET /contacts?q=an&limit=10&offset=20 answers "
        '{"total": 37, "items": [...]}: the contacts whose name contains q, ignoring case, sorted '
        "by name; total counts all matches, not only this page. Without q all match; limit is 20 "
        "and offset 0 if not given; a limit that is not a number from 1 to 100 is 400. "
        "DELETE /contacts/{id} answers 204, and 404 if there is none."
    ),
    truth="""
# adds a contact and finds it
made = http('POST', '/contacts', json={'name': 'Quentin One', 'phone': '0123'})
status(made, 201)
assert made.json()['name'] == 'Quentin One' and made.json()['phone'] == '0123'
found = http('GET', '/contacts?q=quentin')
status(found, 200)
assert found.json()['total'] == 1 and found.json()['items'][0]['id'] == made.json()['id']
assert found.json()['items'][0]['phone'] == '0123'

# finds parts of names, sorted, whatever their case
for name in ('Zoe Page', 'adam page', 'Mia PAGE', 'Bob Book'):
    status(http('POST', '/contacts', json={'name': name, 'phone': '1'}), 201)
found = http('GET', '/contacts?q=page').json()
assert found['total'] == 3
assert sorted(each['name'] for each in found['items']) == ['Mia PAGE', 'Zoe Page', 'adam page']
both = [each['name'] for each in found['items'] if each['name'] != 'adam page']
assert both == ['Mia PAGE', 'Zoe Page']

# gives pages
for n in range(25):
    http('POST', '/contacts', json={'name': f'Crowd {n:02}', 'phone': '1'})
first = http('GET', '/contacts?q=crowd').json()
assert first['total'] == 25 and len(first['items']) == 20
page = http('GET', '/contacts?q=crowd&limit=7&offset=3').json()
assert page['total'] == 25
assert [each['name'] for each in page['items']] == [f'Crowd {n:02}' for n in range(3, 10)]
last = http('GET', '/contacts?q=crowd&limit=10&offset=20').json()
assert [each['name'] for each in last['items']] == [f'Crowd {n:02}' for n in range(20, 25)]
assert http('GET', '/contacts?q=crowd&offset=99').json()['items'] == []
assert http('GET', '/contacts').json()['total'] >= 25

# refuses what it cannot use
for limit in ('0', '101', '-1', 'many'):
    status(http('GET', f'/contacts?limit={limit}'), 400)
status(http('GET', '/contacts?limit=100'), 200)
for body in ({}, {'name': 'No phone'}, {'name': '', 'phone': '1'}, {'name': 'X', 'phone': ''}):
    status(http('POST', '/contacts', json=body), 400)
status(http('POST', '/contacts', json={'name': 5, 'phone': '1'}), 400)

# removes a contact
made = http('POST', '/contacts', json={'name': 'Gone Soon', 'phone': '9'}).json()
status(http('DELETE', f"/contacts/{made['id']}"), 204)
assert http('GET', '/contacts?q=gone').json() == {'total': 0, 'items': []}
status(http('DELETE', f"/contacts/{made['id']}"), 404)
""",
)

ORDERS = Asked(
    name="orders",
    language="python",
    kind="service",
    text=(
        "REST service in Python that tracks orders through their states. POST /orders with "
        '{"item": "book"} -> 201, {"id": ..., "item": "book", "state": "new"}. '
        "POST /orders/{id}/pay turns new into paid, POST /orders/{id}/ship turns paid into "
        "shipped, POST /orders/{id}/cancel turns new or paid into cancelled; each answers 200 with "
        "the order. Every other move gets 409 and changes nothing. GET /orders/{id} gives the "
        "order, GET /orders?state=paid the list of the orders in that state. Unknown id: 404. "
        "A missing or empty item: 400."
    ),
    truth="""
# takes an order to its end
made = http('POST', '/orders', json={'item': 'book'})
status(made, 201)
assert made.json()['item'] == 'book' and made.json()['state'] == 'new'
order = f"/orders/{made.json()['id']}"
for move, state in (('pay', 'paid'), ('ship', 'shipped')):
    reply = http('POST', f'{order}/{move}')
    status(reply, 200)
    assert reply.json()['state'] == state and reply.json()['item'] == 'book'
    assert http('GET', order).json()['state'] == state

# cancels what is new or paid
for moves in ((), ('pay',)):
    order = f"/orders/{http('POST', '/orders', json={'item': 'cup'}).json()['id']}"
    for move in moves:
        status(http('POST', f'{order}/{move}'), 200)
    status(http('POST', f'{order}/cancel'), 200)
    assert http('GET', order).json()['state'] == 'cancelled'

# refuses every other move and changes nothing
for moves, refused, state in (
    ((), ('ship',), 'new'),
    (('pay',), ('pay',), 'paid'),
    (('pay', 'ship'), ('pay', 'ship', 'cancel'), 'shipped'),
    (('cancel',), ('pay', 'ship', 'cancel'), 'cancelled'),
):
    order = f"/orders/{http('POST', '/orders', json={'item': 'pen'}).json()['id']}"
    for move in moves:
        status(http('POST', f'{order}/{move}'), 200)
    for move in refused:
        status(http('POST', f'{order}/{move}'), 409)
        assert http('GET', order).json()['state'] == state

# lists orders by their state
one, two = (http('POST', '/orders', json={'item': 'list'}).json()['id'] for _ in range(2))
http('POST', f'/orders/{two}/pay')
paid, new = (rows(http('GET', f'/orders?state={state}')) for state in ('paid', 'new'))
assert two in [each['id'] for each in paid] and one not in [each['id'] for each in paid]
assert one in [each['id'] for each in new] and two not in [each['id'] for each in new]
assert {each['state'] for each in paid} == {'paid'}

# refuses what makes no sense
for body in ({}, {'item': ''}):
    status(http('POST', '/orders', json=body), 400)
status(http('GET', '/orders/98765'), 404)
for move in ('pay', 'ship', 'cancel'):
    status(http('POST', f'/orders/98765/{move}'), 404)
""",
)

GUESTBOOK = Asked(
    name="guestbook",
    language="python",
    kind="service",
    text=(
        "A guest book web page in Python. GET / answers an HTML page (text/html) with all entries, "
        "the newest first, each with name and message, and below a form to sign. POST /sign takes "
        "the form fields name and message (application/x-www-form-urlencoded) and redirects to / "
        "with status 303. If name or message is empty answer 400 and store nothing. What visitors "
        "typed must be escaped in the page."
    ),
    truth="""
# shows a page with a form
page = http('GET', '/')
status(page, 200)
assert page.headers['Content-Type'].startswith('text/html')
assert '<form' in page.text.lower() and '/sign' in page.text

# shows who signed, the newest first
for name, message in (('Anna', 'first words'), ('Bert', 'second words')):
    reply = http('POST', '/sign', body=form(name=name, message=message), headers=FORM)
    status(reply, 303)
    assert reply.headers['Location'].rstrip('/') in ('', 'http://127.0.0.1:8000',
                                                     'http://localhost:8000')
page = http('GET', '/').text
for words in ('Anna', 'Bert', 'first words', 'second words'):
    assert words in page
assert page.index('second words') < page.index('first words')

# keeps text in any script
http('POST', '/sign', body=form(name='Zoë', message='grüße 日本 & mehr'), headers=FORM)
page = http('GET', '/').text
assert 'grüße 日本 &amp; mehr' in page or 'gr&#252;&#223;e' in page

# escapes what visitors typed
evil = '<script>alert(1)</script>'
status(http('POST', '/sign', body=form(name=evil, message=evil + '"x'), headers=FORM), 303)
page = http('GET', '/').text
assert evil not in page and '&lt;script' in page

# stores nothing that is empty
for fields in ({'name': 'Nobody'}, {'message': 'no name here'},
               {'name': 'Nobody', 'message': ''}, {'name': '', 'message': 'no name here'}):
    status(http('POST', '/sign', body=form(**fields), headers=FORM), 400)
page = http('GET', '/').text
assert 'Nobody' not in page and 'no name here' not in page
""",
)

TEXT_COUNTS = Asked(
    name="text-counts",
    language="python",
    kind="service",
    text=(
        "Python HTTP service without JSON: POST /count gets plain text as the request body (UTF-8) "
        "and answers text/plain with exactly three lines: `lines N`, `words N` and "
        "`characters N`. Words are separated by white space, lines by newlines (a last line "
        "without a newline counts, too), characters are counted as characters, not bytes. An empty "
        "body has three zeros. GET /health answers `ok` as plain text."
    ),
    truth="""
# is healthy, in plain text
reply = http('GET', '/health')
status(reply, 200)
assert reply.text.strip() == 'ok' and reply.headers['Content-Type'].startswith('text/plain')

# counts
for text, counts in (
    ('one two\\nthree\\n', (2, 3, 14)),
    ('one two\\nthree', (2, 3, 13)),
    ('', (0, 0, 0)),
    ('a', (1, 1, 1)),
    ('  spaced   out  ', (1, 2, 16)),
    ('\\n\\n\\n', (3, 0, 3)),
    ('grün 日本', (1, 2, 7)),
):
    reply = http('POST', '/count', body=text, headers={'Content-Type': 'text/plain'})
    status(reply, 200)
    assert reply.headers['Content-Type'].startswith('text/plain')
    wanted = ['lines %d' % counts[0], 'words %d' % counts[1], 'characters %d' % counts[2]]
    assert reply.text.splitlines() == wanted, repr(text)
""",
)

SPECIFIED_PYTHON = (LEDGER, CONTACTS, ORDERS, GUESTBOOK, TEXT_COUNTS)
