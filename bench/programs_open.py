"""Services whose sentences leave routes and names open, as most people type them.

Truth asks for what was wanted, `ask('book', room='Oak', …)`; where the service has it is found in
its OpenAPI document, or in the source of a program that has none (`bench/programs_routes.py`).
"""

from bench.programs_asked import Asked, Wanted

ID = ("id", ("id",))
_START = ("start", "from", "begin")
_END = ("end", "until", "to", "finish")

ROOMS = Asked(
    name="rooms",
    language="python",
    kind="service",
    text=(
        "A REST API in Python for booking meeting rooms. You book a room (just its name) from a "
        "start to an end time, written like 2030-05-01T09:00, with who booked it. A booking that "
        "overlaps another one of the same room is refused with 409; one may begin when the other "
        "ends. Bookings can be listed and cancelled, and of course the end has to be after the "
        "start."
    ),
    wanted=(
        Wanted(
            name="book",
            methods=("POST",),
            words=("book", "reserv"),
            fields=(("room", ("room", "name")), ("start", _START), ("end", _END)),
            without=("cancel",),
        ),
        Wanted(name="list", methods=("GET",), words=("book", "reserv"), without=("{", "health")),
        Wanted(
            name="cancel",
            methods=("DELETE", "POST", "PUT"),
            words=("cancel", "delete", "remove", "book", "reserv"),
            fields=(ID,),
        ),
    ),
    truth="""
# books a room and lists the booking
made = ask('book', room='Oak', start=at('09:00'), end=at('10:00'))
good(made)
seen = ask('list')
good(seen)
assert 'Oak' in seen.text and '09:00' in seen.text

# refuses what overlaps
good(ask('book', room='Elm', start=at('09:00'), end=at('10:00')))
for start, end in (('09:30', '10:30'), ('08:30', '09:30'), ('09:15', '09:45'), ('08:00', '11:00'),
                   ('09:00', '10:00')):
    status(ask('book', room='Elm', start=at(start), end=at(end)), 409)

# books beside and elsewhere
good(ask('book', room='Fir', start=at('09:00'), end=at('10:00')))
good(ask('book', room='Fir', start=at('10:00'), end=at('11:00')))
good(ask('book', room='Fir', start=at('08:00'), end=at('09:00')))
good(ask('book', room='Ash', start=at('09:00'), end=at('10:00')))

# frees a room that is cancelled
made = ask('book', room='Yew', start=at('13:00'), end=at('14:00'))
status(ask('book', room='Yew', start=at('13:00'), end=at('14:00')), 409)
good(ask('cancel', id=id_of(made)))
good(ask('book', room='Yew', start=at('13:00'), end=at('14:00')))
refused(ask('cancel', id=987654))

# refuses an end that is not after the start
for start, end in (('10:00', '09:00'), ('10:00', '10:00')):
    refused(ask('book', room='Box', start=at(start), end=at(end)))
""",
)

WAREHOUSE = Asked(
    name="warehouse",
    language="python",
    kind="service",
    text=(
        "I need an API in Python for our small warehouse: add articles with a name and the "
        "quantity we have, take some out of an article, put some in again, see an article, and get "
        "the ones that run low (fewer than 5 left). There can never be less than nothing of an "
        "article, so taking out too many must be refused."
    ),
    wanted=(
        Wanted(
            name="add",
            methods=("POST",),
            words=("article", "item", "product", "stock"),
            fields=(("name", ("name", "title")), ("quantity", ("quant", "count", "amount", "qty"))),
        ),
        Wanted(
            name="take",
            methods=("POST", "PUT", "PATCH"),
            words=(
                "take",
                "remove",
                "withdraw",
                "out",
                "decrease",
                "consume",
                "subtract",
                "reduce",
            ),
            fields=(ID, ("quantity", ("quant", "count", "amount", "qty", "number", "take"))),
        ),
        Wanted(
            name="put",
            methods=("POST", "PUT", "PATCH"),
            words=("put", "restock", "return", "increase", "add", "in", "deposit"),
            fields=(ID, ("quantity", ("quant", "count", "amount", "qty", "number", "put"))),
            without=("take", "remove", "withdraw", "decrease", "consume", "subtract", "reduce"),
        ),
        Wanted(
            name="see",
            methods=("GET",),
            words=("article", "item", "product", "stock"),
            fields=(ID,),
            without=("low",),
        ),
        Wanted(name="low", methods=("GET",), words=("low", "running", "short")),
    ),
    truth="""
# keeps how many there are
one = id_of(ask('add', name='nails', quantity=40))
assert 40 in leaves(ask('see', id=one)) and 'nails' in leaves(ask('see', id=one))
good(ask('take', id=one, quantity=15))
assert 25 in leaves(ask('see', id=one))
good(ask('put', id=one, quantity=7))
assert 32 in leaves(ask('see', id=one))

# never has less than nothing
one = id_of(ask('add', name='screws', quantity=33))
refused(ask('take', id=one, quantity=34))
assert 33 in leaves(ask('see', id=one))
good(ask('take', id=one, quantity=33))
refused(ask('take', id=one, quantity=1))

# tells what runs low
for name, quantity in (('glue', 4), ('rope', 5), ('tape', 90)):
    good(ask('add', name=name, quantity=quantity))
low = leaves(ask('low'))
assert 'glue' in low and 'rope' not in low and 'tape' not in low
one = id_of(ask('add', name='paint', quantity=6))
good(ask('take', id=one, quantity=2))
assert 'paint' in leaves(ask('low'))
good(ask('put', id=one, quantity=1))
assert 'paint' not in leaves(ask('low'))

# refuses what makes no sense
refused(ask('add', name='air', quantity=-1))
one = id_of(ask('add', name='wire', quantity=55))
for many in (-5, 0):
    refused(ask('take', id=one, quantity=many))
assert 55 in leaves(ask('see', id=one))
refused(ask('see', id=987654))
""",
)

_USER = ("user", ("user", "mail", "name", "login"))
_PASSWORD = ("password", ("pass",))
DIARY = Asked(
    name="diary",
    language="python",
    kind="service",
    text=(
        "Build the backend of a diary in Python. People sign up with user name and password, log "
        "in to get a token, and then write entries with a title and a text, list their own "
        "entries, read one and delete one. Nobody may see or delete what somebody else wrote."
    ),
    wanted=(
        Wanted(
            name="sign up",
            methods=("POST",),
            words=("sign", "regist", "user", "account"),
            fields=(_USER, _PASSWORD),
            without=("login", "signin", "sign-in", "token", "session"),
        ),
        Wanted(
            name="log in",
            methods=("POST",),
            words=("login", "log-in", "signin", "sign-in", "token", "session", "auth"),
            fields=(_USER, _PASSWORD),
            without=("signup", "register"),
        ),
        Wanted(
            name="write",
            methods=("POST",),
            words=("entr", "diar", "note", "post"),
            fields=(("title", ("title",)), ("text", ("text", "content", "body"))),
        ),
        Wanted(name="list", methods=("GET",), words=("entr", "diar", "note"), without=("{",)),
        Wanted(name="read", methods=("GET",), words=("entr", "diar", "note"), fields=(ID,)),
        Wanted(name="delete", methods=("DELETE",), words=("entr", "diar", "note"), fields=(ID,)),
    ),
    truth="""
# keeps what somebody wrote
token = member('amelia')
which = id_of(ask('write', token=token, title='Monday', text='It rained all day.'))
seen = leaves(ask('read', token=token, id=which))
assert 'Monday' in seen and 'It rained all day.' in seen
good(ask('write', token=token, title='Tuesday', text='Sun.'))
seen = leaves(ask('list', token=token))
assert 'Monday' in seen and 'Tuesday' in seen

# shows nobody what others wrote
one, other = member('boris'), member('clara')
which = id_of(ask('write', token=one, title='Secret of Boris', text='hidden'))
status(ask('read', token=other, id=which), 401, 403, 404)
assert 'Secret of Boris' not in ask('list', token=other).text
status(ask('delete', token=other, id=which), 401, 403, 404)
assert 'Secret of Boris' in leaves(ask('read', token=one, id=which))

# deletes
token = member('dora')
which = id_of(ask('write', token=token, title='Gone', text='soon'))
good(ask('delete', token=token, id=which))
status(ask('read', token=token, id=which), 404, 410)
assert 'Gone' not in ask('list', token=token).text

# lets in nobody without a token
which = id_of(ask('write', token=member('emil'), title='E', text='e'))
for token in (None, 'nonsense'):
    status(ask('list', token=token), 401, 403, 422)
    status(ask('read', token=token, id=which), 401, 403, 422)
    status(ask('write', token=token, title='x', text='y'), 401, 403, 422)
    status(ask('delete', token=token, id=which), 401, 403, 422)

# knows people by their password
member('fritz')
refused(ask('log in', user='fritz', password='wrong-Password-1'))
refused(ask('log in', user='nobody-here', password='Right!7-word'))
refused(ask('sign up', user='fritz', password='Other!7-word'))
""",
)

JOBS = Asked(
    name="jobs",
    language="python",
    kind="service",
    text=(
        "A job queue as a web service in Python: clients push a job with a payload (any text) and "
        "a priority (a whole number), workers fetch the next job, which is the one with the "
        "highest priority and among equals the oldest, and later report that job as done. A job "
        "that was fetched is not given to anybody else. If nothing waits, fetching answers 404."
    ),
    wanted=(
        Wanted(
            name="push",
            methods=("POST",),
            words=("job", "push", "task", "queue"),
            fields=(
                ("payload", ("payload", "data", "text", "content", "body")),
                ("priority", ("prior",)),
            ),
        ),
        Wanted(
            name="fetch",
            methods=("GET", "POST"),
            words=("next", "fetch", "claim", "pop", "take", "dequeue", "pull"),
            without=("done", "complete", "finish", "push", "{"),
        ),
        Wanted(
            name="done",
            methods=("POST", "PUT", "PATCH", "DELETE"),
            words=("done", "complete", "finish", "ack", "report"),
            fields=(ID,),
        ),
    ),
    truth="""
# gives the highest priority first, the oldest among equals
for _ in range(60):
    if ask('fetch').status == 404:
        break
for payload, priority in (('low', 1), ('high one', 9), ('middle', 5), ('high two', 9)):
    good(ask('push', payload=payload, priority=priority))
for payload in ('high one', 'high two', 'middle', 'low'):
    reply = ask('fetch')
    good(reply)
    assert payload in leaves(reply), f'want {payload!r}'
    good(ask('done', id=id_of(reply)))
status(ask('fetch'), 404)

# gives a job to one worker only
for _ in range(60):
    if ask('fetch').status == 404:
        break
good(ask('push', payload='only once', priority=0))
good(ask('push', payload='below zero', priority=-3))
assert 'only once' in leaves(ask('fetch'))
assert 'below zero' in leaves(ask('fetch'))
status(ask('fetch'), 404)

# refuses what makes no sense
refused(ask('done', id=987654))
refused(ask('push', payload='bad', priority='urgent'))
""",
)

SEATS = Asked(
    name="seats",
    language="python",
    kind="service",
    text=(
        "python backend for events with limited seats. create an event with a title and number of "
        "seats, people register for it with their email, nobody twice for the same event (409), "
        "and if it's full also 409. i want to see for an event how many seats are left and be able "
        "to unregister an email"
    ),
    wanted=(
        Wanted(
            name="create",
            methods=("POST",),
            words=("event",),
            fields=(("title", ("title", "name")), ("seats", ("seat", "capacity"))),
            without=("regist", "attend", "sign"),
        ),
        Wanted(
            name="register",
            methods=("POST", "PUT"),
            words=("regist", "attend", "sign", "participant", "join"),
            fields=(("event", ("event", "id")), ("email", ("mail",))),
            without=("unregist", "cancel", "deregist"),
        ),
        Wanted(
            name="unregister",
            methods=("DELETE", "POST"),
            words=("regist", "attend", "sign", "participant", "cancel", "leave"),
            fields=(("event", ("event", "id")), ("email", ("mail",))),
        ),
        Wanted(
            name="see",
            methods=("GET",),
            words=("event", "seat"),
            fields=(("event", ("event", "id")),),
        ),
    ),
    truth="""
# counts the seats that are left
one = id_of(ask('create', title='Concert', seats=31))
assert 31 in leaves(ask('see', event=one))
for n in range(3):
    good(ask('register', event=one, email=f'guest{n}@example.com'))
assert 28 in leaves(ask('see', event=one))

# is full when it is full
one = id_of(ask('create', title='Dinner', seats=2))
for who in 'ab':
    good(ask('register', event=one, email=f'{who}@example.com'))
status(ask('register', event=one, email='c@example.com'), 409)
good(ask('unregister', event=one, email='a@example.com'))
good(ask('register', event=one, email='c@example.com'))
status(ask('register', event=one, email='d@example.com'), 409)

# takes nobody twice
one, two = (id_of(ask('create', title=title, seats=77)) for title in ('Talk', 'Walk'))
good(ask('register', event=one, email='x@example.com'))
status(ask('register', event=one, email='x@example.com'), 409)
good(ask('register', event=two, email='x@example.com'))
assert 76 in leaves(ask('see', event=one))

# refuses what is not there
refused(ask('see', event=987654))
refused(ask('register', event=987654, email='y@example.com'))
""",
)

OPEN_PYTHON = (ROOMS, WAREHOUSE, DIARY, JOBS, SEATS)
