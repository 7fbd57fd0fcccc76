"""Commands in six languages; truth runs them with `run` (`bench/programs_words.py`)."""

from bench.programs_asked import Asked

CSV_TOTALS = Asked(
    name="csv-totals",
    language="python",
    kind="cli",
    text=(
        "Write a command line tool in Python that totals one column of a CSV file (with a header "
        "line) for each value of another: FILE --by COLUMN --sum COLUMN prints one line per value, "
        "the value, a tab and the total with two decimals, sorted by value. Cells may be quoted "
        "and contain commas. If the file or a column does not exist it prints a message to stderr "
        "and exits with code 2."
    ),
    truth=r"""
# totals a column for each value of another
path = file('sales.csv', 'region,amount,who\nwest,10.5,a\neast,1,b\nwest,4.25,c\neast,2,d\n')
told(run(path, '--by', 'region', '--sum', 'amount'), 'east\t3.00', 'west\t14.75')

# understands quoted cells
rows = ['n,"city, land"', '5,"Rome, IT"', '7,"Bonn, DE"', '1,"Rome, IT"', '-2,"the ""A"" team"']
path = file('q.csv', '\n'.join(rows) + '\n')
told(run(path, '--by', 'city, land', '--sum', 'n'),
     'Bonn, DE\t7.00', 'Rome, IT\t6.00', 'the "A" team\t-2.00')

# adds up exactly
path = file('o.csv', 'k,v\n' + 'b,0.1\n' * 30 + 'a,-2\na,2\n')
told(run(path, '--by', 'k', '--sum', 'v'), 'a\t0.00', 'b\t3.00')

# says what is missing
failed(run('/tmp/none.csv', '--by', 'a', '--sum', 'b'), 2)
failed(run(file('x.csv', 'a,b\n1,2\n'), '--by', 'nope', '--sum', 'b'), 2)
failed(run(file('x.csv', 'a,b\n1,2\n'), '--by', 'a', '--sum', 'nope'), 2)
""",
)

DAYS = Asked(
    name="days",
    language="python",
    kind="cli",
    text=(
        "A Python script that tells how many days lie between two dates: called with 2024-02-27 "
        "2024-03-01 it prints 3. The order of the dates does not matter. With --workdays it counts "
        "only Mondays to Fridays, where the earlier date counts and the later one does not. A date "
        "that does not exist or is not written YYYY-MM-DD: error message on stderr, exit code 1."
    ),
    truth="""
# counts days
for one, other, days in (('2024-02-27', '2024-03-01', 3), ('2023-02-27', '2023-03-01', 2),
                         ('2024-05-05', '2024-05-05', 0), ('2025-01-01', '2024-01-01', 366)):
    told(run(one, other), str(days))

# counts workdays
for one, other, days in (('2024-06-03', '2024-06-10', 5), ('2024-06-07', '2024-06-10', 1),
                         ('2024-06-08', '2024-06-10', 0), ('2024-06-10', '2024-06-07', 1),
                         ('2024-06-10', '2024-06-11', 1), ('2024-01-01', '2025-01-01', 262)):
    ran = run(one, other, '--workdays')
    told(ran if ran.exit_code == 0 else run('--workdays', one, other), str(days))

# refuses what is no date
for bad in ('2023-02-29', 'soon', '01.02.2024'):
    failed(run(bad, '2024-03-01'), 1)
    failed(run('2024-03-01', bad), 1)
""",
)

LOG_REPORT = Asked(
    name="log-report",
    language="python",
    kind="cli",
    text=(
        "i have access logs of a web server (common log format) and want a python command that "
        "reads such a log from standard input and prints how many requests there were for each "
        "status code and the three most requested paths with their counts. lines it doesn't "
        "understand should be skipped"
    ),
    truth=r"""
# counts by status and by path
def line(path, status, method='GET'):
    return f'10.0.0.1 - - [10/Oct/2024:13:55:36 +0000] "{method} {path} HTTP/1.1" {status} 512\n'
log = line('/index.html', 200) * 7 + line('/a', 404) * 3 + line('/b', 500, 'POST') * 2
log += 'garbage that is no request\n\n' + line('/rare', 404) + line('/index.html', 304) * 6
log += line('/a', 200) * 2
ran = run(stdin=log)
assert ran.exit_code == 0, ran.stderr[-300:]
for status, count in ((200, 9), (404, 4), (500, 2), (304, 6)):
    line_with(ran.stdout, status, count)
for path, count in (('/index.html', 13), ('/a', 5), ('/b', 2)):
    line_with(ran.stdout, path, count)
assert '/rare' not in ran.stdout, 'only three paths were asked for'
assert ran.stdout.index('/index.html') < ran.stdout.index('/a') < ran.stdout.index('/b')

# has nothing to tell of nothing
ran = run(stdin='')
assert ran.exit_code == 0, ran.stderr[-300:]
ran = run(stdin='only garbage\n"GET\n')
assert ran.exit_code == 0 and 'GET' not in ran.stdout, ran.stderr[-300:]
""",
)

WRAP = Asked(
    name="wrap",
    language="go",
    kind="cli",
    text=(
        "Go command that reads text from stdin and wraps it: words are put on lines of at most N "
        "characters, as many as fit, with one space between them; N is given with -w and is 72 by "
        "default. Paragraphs (separated by one or more empty lines) stay apart, with exactly one "
        "empty line between them. A word longer than N gets a line of its own. Count characters, "
        "not bytes. Only the standard library. N below 1: exit code 2."
    ),
    truth=r"""
# wraps words
told(run('-w', '10', stdin='one two three four five\nsix'), 'one two', 'three four', 'five six')
told(run('-w', '7', stdin='one two three'), 'one two', 'three')

# is 72 wide if nobody says else
words = ' '.join(['abcde'] * 30)
told(run(stdin=words), ' '.join(['abcde'] * 12), ' '.join(['abcde'] * 12), ' '.join(['abcde'] * 6))

# keeps paragraphs apart
told(run('-w', '20', stdin='  first   one\n\n\n\nsecond\none\n\n'), 'first one', '', 'second one')

# gives long words a line of their own, and counts characters
told(run('-w', '5', stdin='a extraordinary b c'), 'a', 'extraordinary', 'b c')
told(run('-w', '9', stdin='üüüü ßßßß ää'), 'üüüü ßßßß', 'ää')

# prints nothing for nothing, refuses nonsense
ran = run(stdin='')
assert ran.exit_code == 0 and ran.stdout.strip() == ''
assert run('-w', '0', stdin='x').exit_code == 2
""",
)

JSON_GET = Asked(
    name="json-get",
    language="go",
    kind="cli",
    text=(
        "a Go program that takes a path like user.tags.0 as its only argument, reads JSON from "
        "stdin and prints the value at that path: a string without quotes, everything else as "
        "compact JSON. Numbers are indexes into arrays. If there is nothing at that path it prints "
        "nothing and exits with 1; if the input is no JSON it exits with 2"
    ),
    truth=r"""
# finds values
text = '{"user": {"name": "Ann B", "tags": ["x", {"y": [1, 2]}], "age": 7, "ok": true, "no": null}}'
for path, value in (('user.name', 'Ann B'), ('user.tags.0', 'x'), ('user.tags.1.y.1', '2'),
                    ('user.age', '7'), ('user.ok', 'true'), ('user.tags.1.y', '[1,2]'),
                    ('user.no', 'null'), ('user.tags.1', '{"y":[1,2]}')):
    told(run(path, stdin=text), value)
told(run('1.a', stdin='[0, {"a": 2.5}]'), '2.5')

# finds nothing where there is nothing
text = '{"user": {"tags": ["x", {"y": [1, 2]}], "age": 7}}'
for path in ('user.x', 'user.tags.2', 'user.tags.x', 'user.age.z', 'nobody', 'user.tags.-1'):
    ran = run(path, stdin=text)
    assert ran.exit_code == 1 and ran.stdout == '', path

# refuses what is no JSON
for bad in ('{"a": ', '', 'hello'):
    assert run('a', stdin=bad).exit_code == 2
""",
)

WORD_COUNTS = Asked(
    name="word-counts",
    language="perl",
    kind="cli",
    text=(
        "Perl script: read text from standard input and print the most frequent words, one line "
        "each, as `COUNT WORD`, most frequent first, words that are equally frequent in "
        "alphabetical order. Upper and lower case are the same word, printed in lower case. A word "
        "is letters and apostrophes only (don't is one word). It prints ten words, or as many as "
        "the option -n says."
    ),
    truth=r"""
# counts words
told(run(stdin="The cat. the DOG, a cat; THE end-end\n"), '3 the', '2 cat', '2 end', '1 a', '1 dog')
told(run(stdin="don't Don't dont, 42\n"), "2 don't", '1 dont')

# prints ten, or as many as are wanted
text = ' '.join(f'w{letter} ' * (20 - n) for n, letter in enumerate('abcdefghijklmno'))
ran = run(stdin=text)
assert [line.split()[1] for line in ran.stdout.splitlines()] == [f'w{c}' for c in 'abcdefghij']
told(run('-n', '2', stdin=text), '20 wa', '19 wb')

# says nothing about nothing
ran = run(stdin='')
assert ran.exit_code == 0 and ran.stdout.strip() == ''
""",
)

INI = Asked(
    name="ini",
    language="perl",
    kind="cli",
    text=(
        "Perl program that flattens an INI file: given the file name it prints section.key=value "
        "for every setting, sorted by that whole name; keys before the first section have no "
        "prefix. White space around names and values is dropped, empty lines and lines beginning "
        "with ; or # are ignored, a value may contain =, a later value replaces an earlier one. "
        "A file that cannot be read: message to stderr and exit code 2."
    ),
    truth=r"""
# flattens
text = 'top = 1\n[ db ]\nhost = localhost \nurl=a=b=c\n\n; note\n# note\n[app]\nname =x y\n'
path = file('a.ini', text)
told(run(path), 'app.name=x y', 'db.host=localhost', 'db.url=a=b=c', 'top=1')

# lets later values win
path = file('b.ini', '[s]\na=1\n[t]\na=2\n[s]\na=3\nb=\n')
told(run(path), 's.a=3', 's.b=', 't.a=2')

# says what it cannot read
ran = run('/tmp/none.ini')
assert ran.exit_code == 2 and ran.stdout == '' and ran.stderr.strip()
ran = run(file('c.ini', '; nothing\n'))
assert ran.exit_code == 0 and ran.stdout.strip() == ''
""",
)

RPN = Asked(
    name="rpn",
    language="rust",
    kind="cli",
    text=(
        "Rust command line calculator for reverse polish notation: its arguments are numbers and "
        "the operators + - x / (x multiplies), so 3 4 + 2 x prints 14. Numbers may have decimals; "
        "a whole result is printed without a decimal point, others are rounded to six decimals "
        "without trailing zeros. Too few or too many operands, division by zero or an unknown word "
        "give a message on stderr and exit code 1. No crates."
    ),
    truth="""
# calculates
for words, result in (('3 4 + 2 x', '14'), ('1.5 2 x', '3'), ('7 2 /', '3.5'), ('2 7 -', '-5'),
                      ('1 3 /', '0.333333'), ('42', '42'), ('-3 2 x', '-6'), ('0.1 0.2 +', '0.3'),
                      ('5 1 2 + 4 x + 3 -', '14'), ('2 3 /', '0.666667')):
    told(run(*words.split()), result)

# refuses what makes no sense
for words in ('+', '1 +', '1 2', '1 0 /', '1 2 ^', '', 'one'):
    failed(run(*words.split()), 1)
""",
)

DURATIONS = Asked(
    name="durations",
    language="rust",
    kind="cli",
    text=(
        "Write a Rust program that adds up durations given as arguments, like 1h30m 45m 20s "
        "2h5s, and prints the total as H:MM:SS (hours are not padded and may be over 24). The "
        "parts of a duration are whole numbers with h, m or s, in this order, each at most once. "
        "Anything else: error on stderr, exit code 1. Without arguments it reads durations from "
        "standard input, separated by white space. Only std."
    ),
    truth=r"""
# adds up arguments
told(run('1h30m', '45m', '20s', '2h5s'), '4:15:25')
told(run('90m'), '1:30:00')
told(run('30h', '59m59s', '1s'), '31:00:00')
told(run('0s'), '0:00:00')

# reads standard input if there are no arguments
told(run(stdin='10m\n5s 1h\n\n'), '1:10:05')
told(run(stdin=''), '0:00:00')

# refuses what is no duration
for bad in ('10', '5m1h', '1h2h', 'm', '1d', '1.5h', '-5m', 'h1', ''):
    failed(run('1m', bad), 1)
""",
)

SUMMARY = Asked(
    name="summary",
    language="c",
    kind="cli",
    text=(
        "C program (C99, no libraries) that reads whole numbers separated by white space from "
        "standard input, any number of them, and prints four lines: `min X`, `max X`, "
        "`mean X` with two decimals and `median X` with one decimal (for an even count the mean of "
        "the two in the middle). If there is no number, or something that is not a whole number, "
        "it prints an error to stderr and exits with 1."
    ),
    truth=r"""
# tells the figures
told(run(stdin='3 1 2\n'), 'min 1', 'max 3', 'mean 2.00', 'median 2.0')
told(run(stdin='4\n1\n\n3 2'), 'min 1', 'max 4', 'mean 2.50', 'median 2.5')
told(run(stdin='-5 -7 0 -5'), 'min -7', 'max 0', 'mean -4.25', 'median -5.0')
told(run(stdin='8'), 'min 8', 'max 8', 'mean 8.00', 'median 8.0')

# reads many numbers
text = '\n'.join(str(n) for n in range(20000, 0, -1))
told(run(stdin=text), 'min 1', 'max 20000', 'mean 10000.50', 'median 10000.5')

# refuses what is no number
for bad in ('', '  \n', '1 two 3', '1 2.5', '7x'):
    failed(run(stdin=bad), 1)
""",
)

MERGE = Asked(
    name="merge",
    language="cpp",
    kind="cli",
    text=(
        "A C++17 command that reads intervals from stdin, one `START END` pair of whole numbers a "
        "line, merges those that overlap or touch (1 3 and 3 5 become 1 5; 1 3 and 4 5 stay apart) "
        "and prints the merged ones sorted, one a line as `START END`. Then a last line "
        "`total N` with the summed length of all merged intervals. Empty lines are skipped. A line "
        "that is not two whole numbers or has END before START: message to stderr, exit code 2, "
        "nothing on stdout."
    ),
    truth=r"""
# merges what overlaps or touches
told(run(stdin='5 9\n1 3\n3 4\n'), '1 4', '5 9', 'total 7')
told(run(stdin='1 10\n2 3\n\n4 12\n20 20\n'), '1 12', '20 20', 'total 11')
told(run(stdin='-5 -1\n-3 2\n'), '-5 2', 'total 7')
told(run(stdin='1 3\n4 5\n'), '1 3', '4 5', 'total 3')
told(run(stdin='7 8\n7 8\n'), '7 8', 'total 1')
told(run(stdin=''), 'total 0')

# refuses what is no interval
for bad in ('1 2\n5 3\n', '1\n', '1 2 3\n', 'a b\n', '1 2\n3 x\n'):
    ran = run(stdin=bad)
    failed(ran, 2)
    assert ran.stdout == ''
""",
)

COMMANDS = (
    *(CSV_TOTALS, DAYS, LOG_REPORT, WRAP, JSON_GET, WORD_COUNTS),
    *(INI, RPN, DURATIONS, SUMMARY, MERGE),
)
