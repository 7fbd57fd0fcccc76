"""Questions as plans and pieces of programs ask them, with the passages that answer them.

Right passages are labelled by hand, by a part of their name, in the starter knowledge as well as in
packs. The last questions have none: nothing that is known answers them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and parts of the names of passages that help to answer it."""

    language: str
    text: str
    right: tuple[str, ...]


def asked(language: str, text: str, *right: str) -> Asked:
    return Asked(language=language, text=text, right=right)


PIECES = (
    asked(
        "python",
        "def overlaps(a_start, a_end, b_start, b_end) -> bool: whether two bookings overlap",
        *("Intervals: do two bookings",),
    ),
    asked(
        "python",
        "def page_of(items: list, page: int, size: int) -> dict: the items of one page and how "
        "many pages there are",
        *("Pagination:", "Flask: query parameters and a page"),
    ),
    asked(
        "python",
        "def cart_total(lines: list[dict]) -> Decimal: sum of quantity times unit price, rounded "
        "to cents",
        *("Prices: quantity times", "Money with Decimal", "decimal.Decimal.quantize"),
    ),
    asked(
        "python",
        "def parse_log_line(line: str) -> dict | None: date, level and message of a log line",
        *("Log lines:",),
    ),
    asked("python", "count how many log entries there are for each level", "Log lines:"),
    asked(
        "python",
        "def sum_columns(path: str) -> dict[str, float]: the sum of each numeric column of a CSV "
        "file",
        *("CSV: add up", "CSV row by row", "csv.DictReader"),
    ),
    asked(
        "python",
        "The command has subcommands add, list and remove, each with its own options",
        *("argparse: subcommands", "add_subparsers", "argparse: options"),
    ),
    asked(
        "python",
        "read the text from a file named on the command line, or from standard input",
        *("argparse: options, and a file", "Read standard input", "fileinput"),
    ),
    asked(
        "python",
        "def days_until(date: str, today: str) -> int: days from today until a date",
        *("Dates: days between",),
    ),
    asked(
        "python",
        "def add_working_days(day: date, n: int) -> date: skip Saturdays and Sundays",
        *("Dates: days between",),
    ),
    asked(
        "python",
        "def top_words(text: str, n: int) -> list[tuple[str, int]]: the n most common words",
        *("The most frequent words", "Counter"),
    ),
    asked(
        "python",
        "def sort_products(products, by): sort by price descending, then by name",
        *("Sort records by several keys", "Filter, search and sort", "builtins.sorted", "Sorting"),
    ),
    asked(
        "python",
        "get(key) returns None once the time to live of an entry is over",
        *("Entries that expire",),
    ),
    asked(
        "python",
        "class RateLimiter(limit, seconds) with allow(key, now): at most limit calls in so many "
        "seconds",
        *("Login rate limit", "Token bucket"),
    ),
    asked(
        "python",
        "def can_transition(status: str, new: str) -> bool: an order goes from new to paid to "
        "shipped",
        *("State changes as a table",),
    ),
    asked("python", "show user names on an HTML page safely", "Escape text before", "html.escape"),
    asked(
        "python",
        "def validate_product(body: dict) -> list[str]: name is required, price must be a "
        "positive number",
        *("Check the fields", "pydantic: strict", "All problems", "Flask: read a JSON body"),
    ),
    asked(
        "python",
        "GET /products?min_price=&max_price=&q=&sort= filters and sorts the products",
        *("Filter, search and sort", "Numbers from a query string", "Flask: query parameters"),
    ),
    asked(
        "python",
        "def shorten(url: str) -> str: a random code of seven characters that is not taken yet",
        *("Short codes and ids", "secrets.token_urlsafe", "secrets.choice"),
    ),
    asked(
        "python",
        "def totals_by_customer(orders) -> dict[str, float]: the sum of the orders of each "
        "customer",
        *("Group records by a key",),
    ),
    asked(
        "python",
        "users register with a password, which is stored hashed",
        *("Passwords with", "Passwords: how", "Login that does not", "generate_password_hash"),
    ),
    asked(
        "python",
        "only the owner of a note may read or delete it; others get 403",
        *("Authorisation", "bearer token", "Forbidden"),
    ),
    asked(
        "python",
        "the endpoint answers with plain text instead of JSON",
        *("Flask: answers that are text", "flask.Flask.make_response", "flask.make_response"),
    ),
    asked(
        "python",
        "def median(values: list[float]) -> float: the median, and the 95th percentile",
        *("Mean, median", "statistics"),
    ),
    asked(
        "python",
        "store books in SQLite and look one up by its id",
        *("SQL with parameters", "sqlite3 connection", "sqlite3.Con", "sqlite3.Cur"),
    ),
    asked(
        "python",
        "def parse_duration(text: str) -> int: '1h30m' in seconds",
        *("Durations: read",),
    ),
    asked(
        "go",
        "func sumColumn(path string, column int) (float64, error): sum of a column of a CSV file",
        *("Go: CSV rows", "csv.Reader.Read", "csv example reader"),
    ),
    asked(
        "go",
        "flags -n and -v, and file names as arguments",
        *("Go: command-line tool", "Go: subcommands", "flag.", "flag example"),
    ),
    asked(
        "go",
        "HTTP handler that decodes a JSON body and adds a record to a map guarded by a mutex",
        *("Go: JSON service over a map", "Go: JSON endpoint", "Go: a map shared"),
    ),
    asked("go", "func wordCount(r io.Reader) map[string]int", "Go: count words", "ScanWords"),
    asked(
        "go",
        "sort the results by count descending and by name ascending",
        *(
            "Go: sorting by several",
            "Go: count words",
            "sort.Slice",
            "sort example sort keys",
            "sort example sort multi",
            "SortFunc",
        ),
    ),
    asked(
        "perl",
        "sub count_words: how often each word occurs in a text",
        *("Perl: count words",),
    ),
    asked(
        "perl",
        "options --top N and --ignore-case on the command line",
        *("with Getopt::Long", "by Getopt::Long", "Getopt::Long: "),
    ),
    asked(
        "perl",
        "count the requests per status code in a web server log",
        *("Perl: log lines", "Perl: regular expressions with names", "Perl: group lines"),
    ),
    asked(
        "rust",
        "fn count_words(text: &str) -> HashMap<String, usize>",
        *("Rust: duplicates, counts", "HashMap::entry"),
    ),
    asked(
        "rust",
        "read lines from stdin and print the sum of the second column",
        *(
            "Rust: add up columns",
            "Rust: command-line tool with lines",
            "Stdin::lines",
            "read_line",
        ),
    ),
    asked(
        "c",
        "read integers from standard input, one per line, and report the line that is none",
        *("C: read numbers", "C: whole number from text", "strtol", "getline"),
    ),
    asked("c", "count how often each word occurs in the input", "C: count words", "hsearch"),
    asked(
        "cpp",
        "std::vector<std::string> split_csv(const std::string &line): fields may be quoted",
        *("C++: fields of a CSV", "C++: splitting and trimming"),
    ),
    asked(
        "cpp",
        "count words in a std::map and print the most frequent first",
        *("C++: count words",),
    ),
    # Nothing that is known answers these.
    asked("python", "def to_roman(number: int) -> str: the Roman numeral of a number"),
    asked("python", "def knight_moves(square: str) -> list[str]: where a chess knight can go"),
    asked("python", "def dna_complement(strand: str) -> str: the complement of a DNA strand"),
    asked("python", "def is_valid_isbn(text: str) -> bool: check digit of an ISBN-13"),
    asked("python", "the service keeps recipes with ingredients and scales them to n portions"),
    asked("python", "def caesar(text: str, shift: int) -> str: shift letters by some places"),
    asked("go", "func evaluate(expression string) (float64, error): + - * / and brackets"),
    asked("go", "func gameOfLife(board [][]bool) [][]bool: the next generation of cells"),
    asked("rust", "fn transpose(matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>>"),
    asked("perl", "sub bowling_score: the score of a game of bowling from its rolls"),
    asked("c", "print a mandelbrot set as text, 80 columns wide"),
    asked("cpp", "solve a sudoku by backtracking"),
)

# What a coder or a compiler names: found by words, not by meaning.
NAMES = (
    asked("python", "csv.DictReader", "csv.DictReader"),
    asked("python", "TypeError: add_subparsers() got an unexpected keyword", "add_subparsers"),
    asked(
        "python", "AttributeError: module 'shutil' has no attribute 'copy_tree'", "shutil.copytree"
    ),
    asked("python", "str.removeprefix", "removeprefix"),
    asked("python", "datetime.fromisoformat", "fromisoformat"),
    asked("python", "flask.send_file as_attachment", "flask.send_file", "flask.helpers.send_file"),
    asked("python", "jwt.decode algorithms", "jwt.decode", "PyJWT.decode", "decode"),
    asked("python", "sqlite3.Row row_factory", "sqlite3.Row", "row_factory", "sqlite3.Connection"),
    asked("python", "request.get_json silent", "get_json"),
    asked("go", "http.MaxBytesReader", "http.MaxBytesReader"),
    asked("go", "undefined: strings.SplitAt; strings.SplitN", "strings.Split"),
    asked("go", "bufio.Scanner.Buffer", "bufio.Scanner.Buffer"),
    asked("go", "csv.Reader.FieldsPerRecord", "csv.Reader"),
    asked("go", "time.ParseDuration", "time.ParseDuration", "time example parse duration"),
    asked("perl", "List::Util reduce", "reduce"),
    asked("perl", "Time::Piece strptime", "Time::Piece"),
    asked("perl", "POSIX::strftime", "POSIX: strftime"),
    asked("c", "strtol endptr", "strtol", "strtoul"),
    asked("c", "implicit declaration of function 'getline'", "getline"),
    asked("c", "qsort comparison function", "qsort"),
    asked("cpp", "std::lower_bound", "lower_bound"),
    asked("cpp", "std::partial_sort", "partial_sort"),
    asked("rust", "no method named `split_one` found; `split_once`", "split_once"),
    asked("rust", "HashMap::or_insert_with", "or_insert_with"),
)

# Sentences of bench/programs, by their names: they were written by somebody else.
SENTENCES: dict[str, tuple[str, ...]] = {
    "csv-totals": ("CSV: add up", "CSV row by row", "Group records by", "argparse: options"),
    "days": ("Dates: days between",),
    "log-report": ("Log lines:", "Read standard input"),
    "wrap": ("Go: command-line tool",),
    "json-get": ("Go: command-line tool",),
    "word-counts": ("Perl: count words",),
    "ini": ("Perl: read a file", "Perl: nested data", "Perl: regular expressions"),
    "rpn": ("Rust: subcommands and options",),
    "durations": ("Rust: subcommands and options",),
    "summary": ("C: read numbers",),
    "merge": ("C++: do two intervals", "C++: read numbers", "C++: command-line tool"),
    "rate-limiter": ("Login rate limit", "Token bucket"),
    "forgetful-cache": ("Entries that expire",),
    "money": ("Money with Decimal", "Prices: quantity"),
    "periods": ("Dates: days between", "Intervals: "),
    "chores": (),
    "statistics": (),
    "ciphers": ("Rust: text by characters",),
    "names": (),
    "big-numbers": (),
    "rooms": ("Intervals: do two",),
    "warehouse": ("Check the fields", "Records in memory", "A JSON service"),
    "diary": ("Login that does", "Passwords with", "API tokens", "bearer token"),
    "jobs": ("Records in memory", "A JSON service"),
    "seats": ("Let the unique index", "Count in the database", "Check the fields"),
    "ledger": ("A JSON service", "Check the fields", "Flask: read a JSON", "Count in the database"),
    "contacts": ("A JSON service", "Flask: read a JSON", "Flask: query", "Check the fields"),
    "orders": ("State changes",),
    "guestbook": ("Escape text", "Flask: answers that"),
    "text-counts": ("A JSON service", "Flask: answers that"),
    "polls": ("Go: JSON endpoint", "Go: JSON service"),
    "lengths": ("Rust: minimal HTTP",),
    "hits": ("Perl: a small JSON service", "Perl: count words"),
    "store": ("C++: minimal HTTP", "C++: atomic file write"),
    "snippets": ("Go: JSON service", "Go: JSON endpoint"),
}


def sentences() -> list[Asked]:
    """What people ask for as a whole, with what helps with a part of it."""
    from bench.programs_commands import COMMANDS
    from bench.programs_libraries import LIBRARIES
    from bench.programs_open import OPEN_PYTHON
    from bench.programs_services import SPECIFIED_PYTHON
    from bench.programs_services_elsewhere import ELSEWHERE

    known = (*COMMANDS, *LIBRARIES, *OPEN_PYTHON, *SPECIFIED_PYTHON, *ELSEWHERE)
    return [
        Asked(language=each.language, text=each.text, right=SENTENCES[each.name])
        for each in known
        if each.name in SENTENCES
    ]
