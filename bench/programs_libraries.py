"""Libraries in five languages; truth calls their functions and classes by name."""

from bench.programs_asked import Asked

RATE_LIMITER = Asked(
    name="rate-limiter",
    language="python",
    kind="library",
    text=(
        "Python library with a class RateLimiter(limit, seconds): allow(key, now) returns True if "
        "key has been allowed fewer than limit times in the last `seconds` seconds (an event "
        "exactly `seconds` ago no longer counts), and counts this one; otherwise False, which "
        "does not count. now is a number of seconds that never goes back. remaining(key, now) "
        "tells how many are left. A limit or seconds of zero or less raises ValueError."
    ),
    truth="""
# allows so many in a window
limiter = RateLimiter(2, 10)
assert [limiter.allow('a', now) for now in (0, 1, 2, 9.5)] == [True, True, False, False]
assert [limiter.allow('a', now) for now in (10, 10.5, 11, 20)] == [True, False, True, True]

# keeps keys apart
limiter = RateLimiter(1, 5)
assert limiter.allow('a', 0) and limiter.allow('b', 0)
assert not limiter.allow('a', 4) and limiter.allow('a', 5)

# tells how many are left
limiter = RateLimiter(3, 60)
assert limiter.remaining('x', 0) == 3
limiter.allow('x', 0)
limiter.allow('x', 30)
assert limiter.remaining('x', 30) == 1 and limiter.remaining('x', 30) == 1
assert limiter.remaining('x', 60) == 2 and limiter.remaining('x', 90) == 3

# refuses a limit that makes no sense
for limit, seconds in ((0, 1), (-1, 1), (1, 0), (1, -2)):
    try:
        RateLimiter(limit, seconds)
    except ValueError:
        continue
    raise AssertionError(f'RateLimiter({limit}, {seconds}) raised nothing')
""",
)

FORGETFUL = Asked(
    name="forgetful-cache",
    language="python",
    kind="library",
    text=(
        "I need a cache class in Python, Cache(size, ttl), where the time is always passed in: "
        "put(key, value, now) stores, get(key, now) returns the value or None. An entry is gone "
        "ttl seconds after it was put (at now = put time + ttl it is no longer there). When there "
        "are more than size entries that are not gone, the one that was put or got longest ago is "
        "dropped. count(now) says how many entries there are."
    ),
    truth="""
# keeps and forgets
cache = Cache(10, 5)
cache.put('a', 1, 0)
assert cache.get('a', 4.9) == 1 and cache.get('a', 5) is None and cache.get('b', 1) is None
cache.put('a', 2, 6)
cache.put('a', 3, 8)
assert cache.get('a', 12) == 3 and cache.get('a', 13) is None

# reading does not make an entry live longer
cache = Cache(3, 10)
cache.put('k', 'v', 0)
assert cache.get('k', 9) == 'v' and cache.get('k', 10) is None

# drops what was used longest ago
cache = Cache(2, 100)
cache.put('a', 1, 0)
cache.put('b', 2, 1)
assert cache.get('a', 2) == 1
cache.put('c', 3, 3)
assert cache.get('b', 4) is None and cache.get('a', 4) == 1 and cache.get('c', 4) == 3
cache.put('a', 9, 5)
cache.put('d', 4, 6)
assert cache.get('c', 7) is None and cache.get('a', 7) == 9

# does not drop for what is gone already
cache = Cache(2, 10)
cache.put('old', 1, 0)
cache.put('live', 2, 8)
assert cache.get('old', 9) == 1
cache.put('new', 3, 11)
assert cache.get('live', 12) == 2 and cache.get('new', 12) == 3

# counts
cache = Cache(5, 10)
assert cache.count(0) == 0
for n in range(7):
    cache.put(n, n, n)
assert cache.count(6) == 5 and cache.count(13) == 3 and cache.count(40) == 0
""",
)

MONEY = Asked(
    name="money",
    language="python",
    kind="library",
    text=(
        "Python library for amounts of money in whole cents. parse(text) turns '1,234.50', "
        "'12', '0.5' or '-3.20' into cents (ValueError for anything else, or for more than two "
        "decimals). show(cents) gives '1,234.50'. share(cents, parts) splits an amount into a "
        "list of so many amounts that differ by at most one cent and sum up to it exactly, larger "
        "ones first. percent(cents, rate) gives rate percent, rounded to the nearest cent, halves "
        "away from zero; rate is a whole number."
    ),
    truth="""
# reads amounts
for text, cents in (('1,234.50', 123450), ('12', 1200), ('0.5', 50), ('-3.20', -320), ('0.07', 7),
                    ('1,000,000', 100000000)):
    assert parse(text) == cents

# refuses what is no amount
for text in ('', 'abc', '1.234', '1.2.3', '--5', '$5'):
    try:
        parse(text)
    except ValueError:
        continue
    raise AssertionError(f'parse({text!r}) raised nothing')

# shows amounts
for cents, text in ((123450, '1,234.50'), (5, '0.05'), (0, '0.00'), (-320, '-3.20'),
                    (100000000, '1,000,000.00'), (-7, '-0.07')):
    assert show(cents) == text

# shares fairly
for cents, parts, shares in ((100, 3, [34, 33, 33]), (5, 5, [1] * 5), (2, 4, [1, 1, 0, 0]),
                             (0, 2, [0, 0]), (1001, 2, [501, 500])):
    assert list(share(cents, parts)) == shares

# takes percents
for cents, rate, wanted in ((1000, 19, 190), (50, 1, 1), (49, 1, 0), (-50, 1, -1), (150, 33, 50),
                            (12345, 7, 864)):
    assert percent(cents, rate) == wanted
""",
)

PERIODS = Asked(
    name="periods",
    language="python",
    kind="library",
    text=(
        "A small Python module for periods of days. A period is a pair of ISO dates, first and "
        "last day, both included, like ('2024-01-30', '2024-02-02'). length(period) gives its "
        "number of days, overlap(a, b) the period that two have in common or None, merge(periods) "
        "the list of periods, sorted, that cover the same days, with overlapping and adjacent ones "
        "joined (the day after the last day is adjacent), and free(periods, within) the periods "
        "inside `within` that none of them covers. Strings in, strings out; ValueError if a "
        "period ends before it begins."
    ),
    truth="""
# measures
assert length(('2024-01-30', '2024-02-02')) == 4 and length(('2024-02-29', '2024-02-29')) == 1

# overlaps
one, inner = ('2024-01-01', '2024-01-10'), ('2024-01-05', '2024-01-06')
assert tuple(overlap(one, ('2024-01-10', '2024-01-20'))) == ('2024-01-10', '2024-01-10')
assert tuple(overlap(one, inner)) == inner and tuple(overlap(inner, one)) == inner
assert overlap(one, ('2024-01-11', '2024-01-20')) is None

# merges
later = ('2024-03-10', '2024-03-11')
merged = merge([('2024-03-01', '2024-03-05'), ('2024-02-25', '2024-02-29'), later,
                ('2024-03-04', '2024-03-07')])
assert [tuple(each) for each in merged] == [('2024-02-25', '2024-03-07'), later]
assert list(merge([])) == []

# finds what is free
within = ('2024-01-01', '2024-01-31')
left = free([('2024-01-10', '2024-01-12'), ('2023-12-20', '2024-01-03'),
             ('2024-01-12', '2024-01-15')], within)
assert [tuple(e) for e in left] == [('2024-01-04', '2024-01-09'), ('2024-01-16', '2024-01-31')]
assert [tuple(each) for each in free([], within)] == [within]
assert list(free([('2023-01-01', '2025-01-01')], within)) == []

# refuses a period that ends before it begins
day = ('2024-01-01', '2024-01-01')
for call in (lambda p: length(p), lambda p: merge([p]), lambda p: overlap(p, day)):
    try:
        call(('2024-05-02', '2024-05-01'))
    except ValueError:
        continue
    raise AssertionError('a period that ends before it begins was taken')
""",
)

CHORES = Asked(
    name="chores",
    language="python",
    kind="library",
    text=(
        "Python: a class Plan for chores that depend on each other. add(chore, needs) registers a "
        "chore and the list of chores that have to be done before it (they need not be known "
        "yet). ready() lists in alphabetical order the chores that are not done and whose needs "
        "are all done. done(chore) marks it; KeyError if it is unknown, ValueError if it is not "
        "ready. order() gives all chores that are not done in an order that works, alphabetical "
        "where there is a choice, and raises ValueError if there is none."
    ),
    truth="""
# tells what is ready
plan = Plan()
plan.add('paint', ['sand', 'tape'])
plan.add('sand', [])
plan.add('tape', ['sand'])
plan.add('buy', [])
assert list(plan.ready()) == ['buy', 'sand']
plan.done('sand')
assert list(plan.ready()) == ['buy', 'tape']
plan.done('tape')
plan.done('buy')
assert list(plan.ready()) == ['paint']
plan.done('paint')
assert list(plan.ready()) == []

# finds an order
plan = Plan()
for chore, needs in (('d', ['b', 'c']), ('b', ['a']), ('c', ['a']), ('a', []), ('0', ['d'])):
    plan.add(chore, needs)
assert list(plan.order()) == ['a', 'b', 'c', 'd', '0']
plan.done('a')
assert list(plan.order()) == ['b', 'c', 'd', '0']

# says that there is no order
plan = Plan()
for chore, needs in (('a', ['b']), ('b', ['a']), ('c', [])):
    plan.add(chore, needs)
try:
    plan.order()
except ValueError:
    pass
else:
    raise AssertionError('a circle has an order')
assert list(plan.ready()) == ['c']

# refuses what cannot be done
plan = Plan()
plan.add('x', ['y'])
plan.add('y', [])
for chore, error in (('nothing', KeyError), ('x', ValueError)):
    try:
        plan.done(chore)
    except error:
        continue
    raise AssertionError(f'done({chore!r}) was taken')
assert list(plan.ready()) == ['y']
""",
)

STATISTICS = Asked(
    name="statistics",
    language="go",
    kind="library",
    text=(
        "Go package with functions on slices: Median(values []float64) float64 (the mean of the "
        "two in the middle for an even count, 0 for none; the slice given must not be changed), "
        "Modes(values []int) []int (the most frequent values, ascending), and "
        "MovingAverage(values []float64, window int) []float64 (the average of each run of window "
        "neighbours, so len-window+1 of them; empty if the window is larger than the slice or "
        "below 1)."
    ),
    truth="""
# finds the median
assert median([3.0, 1.0, 2.0]) == 2 and median([4.0, 1.0, 3.0, 2.0]) == 2.5
assert median([]) == 0 and median([-1.5]) == -1.5
values = [3.0, 1.0, 2.0]
median(values)
assert values == [3.0, 1.0, 2.0], 'the slice was changed'

# finds the most frequent
assert list(modes([1, 2, 2, 3])) == [2] and list(modes([5, 1, 5, 1, 3])) == [1, 5]
assert list(modes([9, 8, 7])) == [7, 8, 9]
assert not modes([])

# averages neighbours
near = lambda one, other: [round(each, 9) for each in one] == other
assert near(moving_average([1.0, 2.0, 3.0, 4.0], 2), [1.5, 2.5, 3.5])
assert near(moving_average([1.0, 2.0, 6.0], 3), [3.0])
assert near(moving_average([1.5, 2.5], 1), [1.5, 2.5])
assert not moving_average([1.0], 2) and not moving_average([1.0], 0)
""",
)

CIPHERS = Asked(
    name="ciphers",
    language="rust",
    kind="library",
    text=(
        "Rust library (no crates) with old ciphers: pub fn caesar(text: &str, shift: i32) -> "
        "String moves ASCII letters by shift places in the alphabet, keeping their case and "
        "leaving all else alone; pub fn vigenere(text: &str, key: &str) -> String moves each ASCII "
        "letter by the next letter of the key (a moves by 0), skipping what is no letter without "
        "using up the key; pub fn rail_fence(text: &str, rails: usize) -> String reads the zigzag "
        "of so many rails row by row (one rail changes nothing)."
    ),
    truth="""
# caesar
assert caesar('Hello, World!', 3) == 'Khoor, Zruog!'
assert caesar('xyz ABC', -3) == 'uvw XYZ' and caesar('abc', 52) == 'abc' and caesar('ü9', 5) == 'ü9'
assert caesar('az', -27) == 'zy'

# vigenere
assert vigenere('attackatdawn', 'lemon') == 'lxfopvefrnhr'
assert vigenere('Attack, at dawn!', 'LEMON') == 'Lxfopv, ef rnhr!'
assert vigenere('abc', 'a') == 'abc'

# rail fence
assert rail_fence('WEAREDISCOVEREDFLEEATONCE', 3) == 'WECRLTEERDSOEEFEAOCAIVDEN'
assert rail_fence('hello', 1) == 'hello' and rail_fence('hello', 2) == 'hloel'
assert rail_fence('ab', 5) == 'ab' and rail_fence('', 3) == ''
""",
)

NAMES = Asked(
    name="names",
    language="perl",
    kind="library",
    text=(
        "Perl library with three functions on strings: initials($name) gives the first letters of "
        "all words of a name in upper case with dots, 'ada king lovelace' becomes 'A.K.L.'; "
        "snake($name) turns 'someLongName' or 'Some long-name' into some_long_name; "
        "abbreviate($text, $length) cuts a text that is longer than $length characters at the "
        "last space that fits and adds '...', which counts too; a single long word is cut "
        "anywhere."
    ),
    truth="""
# initials
assert initials('ada king lovelace') == 'A.K.L.' and initials('  Grace   Hopper ') == 'G.H.'
assert initials('plato') == 'P.'

# snake
for name in ('someLongName', 'Some long-name', 'some_long_name', 'SomeLongName'):
    assert snake(name) == 'some_long_name', name
assert snake('x') == 'x' and snake('version2Name') == 'version2_name'

# abbreviate
assert abbreviate('short', 10) == 'short' and abbreviate('exactly ten', 11) == 'exactly ten'
assert abbreviate('the quick brown fox', 14) == 'the quick...'
assert abbreviate('the quick brown fox', 12) == 'the quick...'
assert abbreviate('the quick brown fox', 11) == 'the...'
assert abbreviate('incomprehensible', 8) == 'incom...'
""",
)

BIG_NUMBERS = Asked(
    name="big-numbers",
    language="cpp",
    kind="library",
    text=(
        "C++ library for non-negative whole numbers of any size, written as decimal strings: "
        "std::string add(const std::string& a, const std::string& b), multiply(a, b), "
        "subtract(a, b), where a is never smaller, and int compare(a, b) which is -1, 0 or 1. "
        "Results have no leading zeros, arguments may have some. Standard library only."
    ),
    truth="""
# adds
for a, b in ((0, 0), (1, 999), (10**40, 1), (123456789, 987654321), (10**30 - 1, 10**30 - 1)):
    assert add(str(a), str(b)) == str(a + b)
assert add('0007', '03') == '10'

# multiplies
for a, b in ((0, 12345), (12, 12), (10**25 - 1, 10**25 - 1), (98765432109876543210, 123456789)):
    assert multiply(str(a), str(b)) == str(a * b)
assert multiply('00', '0005') == '0'

# subtracts
for a, b in ((5, 5), (1000, 1), (10**40, 1), (987654321987654321, 123456789)):
    assert subtract(str(a), str(b)) == str(a - b)

# compares
for a, b, order in (('5', '5', 0), ('10', '9', 1), ('9', '10', -1), ('007', '7', 0), ('0', '00', 0),
                    ('123456789012345678901', '123456789012345678902', -1)):
    assert compare(a, b) == order
""",
)

LIBRARIES = (
    *(RATE_LIMITER, FORGETFUL, MONEY, PERIODS, CHORES),
    *(STATISTICS, CIPHERS, NAMES, BIG_NUMBERS),
)
