"""A mixed set of questions, each with the passages that answer it.

Web: what people typed into a search engine (CoSQA). Names: functions and attributes of the same
code, as people type them, whole or in part, alone or in a sentence. Errors: what compilers and
interpreters say, with the names and places of somebody else's program, and how people retell it.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

Group = Literal["web", "names", "errors"]
NAMES = 300
# A name that more functions share is no question with one answer.
SHARED_BY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question, and which documents answer it."""

    group: Group
    text: str
    answers: frozenset[str]


# What was said, and a part of the title of the starter's entry that explains it.
SEEN_ERRORS = (
    ("error[E0382]: borrow of moved value: `config`", "E0382"),
    ("value borrowed here after move, move occurs because `s` has type `String`", "E0382"),
    ("error[E0382]: use of moved value: `tx` --> src/worker.rs:41:9", "E0382"),
    (
        "cannot borrow `self.queue` as mutable because it is also borrowed as immutable",
        "E0502",
    ),
    ("error[E0502]: cannot borrow `map` as mutable", "E0502"),
    ("error[E0499]: cannot borrow `*buf` as mutable more than once at a time", "E0499"),
    ("second mutable borrow occurs here", "E0499"),
    ("error[E0106]: missing lifetime specifier --> src/lib.rs:7:33", "E0106"),
    ("expected named lifetime parameter", "E0106"),
    ("error[E0308]: mismatched types expected `()`, found `i32`", "E0308"),
    ("expected `u64`, found `usize` rust", "E0308"),
    ("thread 'main' panicked at src/main.rs:18: already borrowed: BorrowMutError", "RefCell"),
    ("RefCell already borrowed panic", "RefCell"),
    ("panic: runtime error: index out of range [5] with length 5", "Go: index out of range"),
    ("goroutine 1 [running]: main.load() index out of range [-1]", "Go: index out of range"),
    ("./main.go:14:2: declared and not used: n", "Go: declared and not used"),
    ("result declared and not used go vet", "Go: declared and not used"),
    ("err != nil although nothing went wrong", "Go: a nil pointer in an error"),
    ("main.c:9:13: warning: implicit declaration of function 'usleep'", "C: implicit declaration"),
    ("implicit declaration of function 'getline' [-Wimplicit-function-declaration]", "C: implicit"),
    ("Segmentation fault (core dumped)", "C: segmentation fault"),
    ("warning: 'buffer' is used uninitialized [-Wuninitialized]", "C: segmentation fault"),
    ("program received signal SIGSEGV in strcpy", "C: segmentation fault"),
    ("AddressSanitizer: heap-buffer-overflow on address 0x602000000015", "C: room for the"),
    ("malloc(): corrupted top size Aborted", "C: room for the"),
    ("==4711==ERROR: AddressSanitizer: heap-use-after-free", "C: use after free"),
    ("warning: pointer 'head' used after 'free' [-Wuse-after-free]", "C: use after free"),
    ("format '%d' expects argument of type 'int', but argument 3 has type 'long'", "C: format"),
    ("/usr/bin/ld: calc.o: undefined reference to `sqrt'", "C: undefined reference"),
    ("undefined reference to `pthread_create' collect2: error: ld returned 1", "C: undefined"),
    ("'sizeof' on array function parameter 'values' will return size of 'int *'", "C: length of"),
    ("error: no matching function for call to 'min(int, long unsigned int)'", "C++: no matching"),
    ("cannot bind non-const lvalue reference of type 'std::string&' to an rvalue", "C++: no match"),
    ("warning: reference to local variable 'name' returned", "C++: dangling"),
    ("AddressSanitizer: stack-use-after-scope", "C++: dangling"),
    ("error: use of deleted function 'std::thread::thread(const std::thread&)'", "C++: copy of"),
    ("error: 'format' is not a member of 'std'", "C++: text formatting"),
    ("narrowing conversion of 'ratio' from 'double' to 'int' [-Wnarrowing]", "C++: narrowing"),
    ("has non-virtual destructor might cause undefined behavior", "C++: virtual destructor"),
    ("undefined reference to `vtable for Circle'", "C++: virtual destructor"),
    (
        'Can\'t use string ("x") as a HASH ref while "strict refs" in use at a.pl line 9.',
        "HASH ref",
    ),
    ("Use of uninitialized value $line in pattern match (m//) at run.pl line 31.", "uninitialized"),
    ('Global symbol "$i" requires explicit package name at t.pl line 4.', "Global symbol"),
    ("Wide character in print at ./report.pl line 12.", "Wide character"),
    ("Odd number of elements in hash assignment", "a list where one value"),
    ("UnboundLocalError: cannot access local variable 'total'", "UnboundLocalError"),
    ("local variable 'x' referenced before assignment", "UnboundLocalError"),
    ("ImportError: cannot import name 'User' from partially initialized module", "circular import"),
    ("most likely due to a circular import", "circular import"),
    ("KeyError: 'username'", "KeyError"),
    ("RecursionError: maximum recursion depth exceeded in comparison", "RecursionError"),
    ('SyntaxWarning: "is" with a literal. Did you mean "=="?', "with literals"),
    ("RuntimeError: dictionary changed size during iteration", "changing a collection"),
    ("UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0", "UnicodeDecode"),
    ("'ascii' codec can't decode byte 0xc3 in position 12: ordinal not in range", "UnicodeDecode"),
)

# Written down after the rule was made.
UNSEEN_ERRORS = (
    ("error[E0382]: borrow of partially moved value: `request`", "E0382"),
    ("note: move occurs because `list` has type `Vec<u8>`, which does not implement Copy", "E0382"),
    ("error[E0502]: immutable borrow occurs here, mutable borrow later used", "E0502"),
    ("rustc --explain E0502", "E0502"),
    ("closures require unique access, first mutable borrow occurs here E0499", "E0499"),
    ("this function's return type contains a borrowed value, but there is no value", "E0106"),
    ("help: consider introducing a named lifetime `'a`", "E0106"),
    ("expected `String`, found `&str`", "E0308"),
    ("mismatched types: expected enum `Option`, found struct", "E0308"),
    ("called `Result::unwrap()` on an `Err` value: BorrowMutError", "RefCell"),
    ("panic: runtime error: slice bounds out of range [:9] with capacity 8", "Go: index out"),
    ("runtime error: index out of range [0] with length 0 in handler.go:77", "Go: index out"),
    ("./server.go:31:7: declared and not used: resp", "Go: declared and not used"),
    ("golang why is my error not nil when I return a nil *MyErr", "Go: a nil pointer"),
    (
        "error: implicit declaration of function 'asprintf'; did you mean 'vasprintf'?",
        "C: implicit",
    ),
    ("Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)", "C: segmentation"),
    ("gdb: Program received signal SIGSEGV, Segmentation fault. 0x0000555 in strcpy", "C: segm"),
    ("WRITE of size 1 at 0x6020000000f4 heap-buffer-overflow in strcpy", "C: room for the"),
    ("READ of size 8 heap-use-after-free freed by thread T0 here", "C: use after free"),
    ("free(): double free detected in tcache 2 list node next", "C: use after free"),
    (
        "warning: format '%s' expects argument of type 'char *', but argument 2 has type",
        "C: format",
    ),
    ("warning: format '%lu' expects argument of type 'long unsigned int'", "C: format"),
    ("main.c:(.text+0x1a): undefined reference to `floor'", "C: undefined reference"),
    ("ld: symbol(s) not found: undefined reference to 'cos' -lm", "C: undefined reference"),
    ("sizeof(arr)/sizeof(arr[0]) returns 2 inside function", "C: length of an array"),
    ("no matching function for call to 'std::max(int&, double&)'", "C++: no matching"),
    ("invalid initialization of non-const reference from an rvalue of type 'int'", "C++: no match"),
    ("warning: returning reference to temporary [-Wreturn-local-addr]", "C++: dangling"),
    ("vector erase inside loop crash iterator", "C++: iterators"),
    ("error: call to deleted constructor of 'std::unique_ptr<Widget>'", "C++: copy of"),
    ("error: no member named 'format' in namespace 'std'", "C++: text formatting"),
    ("error: narrowing conversion of '3.5' from 'double' to 'int' inside { }", "C++: narrowing"),
    ("delete called on 'Base' that is abstract but has non-virtual destructor", "C++: virtual"),
    ("Not a HASH reference at lib/Config.pm line 58.", "HASH ref"),
    ("Use of uninitialized value in numeric eq (==) at calc.pl line 7.", "uninitialized value"),
    ('Global symbol "%opts" requires explicit package name (did you forget', "Global symbol"),
    ("Wide character in say at script.pl line 3", "Wide character"),
    ("Reference found where even-sized list expected at hash assignment", "a list where one"),
    ("UnboundLocalError: local variable 'i' referenced before assignment", "UnboundLocalError"),
    ("cannot import name 'db' from partially initialized module 'app'", "circular import"),
    ("KeyError: 0 in dict lookup", "KeyError"),
    ("Fatal Python error: maximum recursion depth exceeded while calling", "RecursionError"),
    ('SyntaxWarning: "is not" with a literal', "with literals"),
    ("RuntimeError: Set changed size during iteration", "changing a collection"),
    ("UnicodeDecodeError: 'charmap' codec can't decode byte 0x9d", "UnicodeDecodeError"),
)
ERRORS = {"dev": SEEN_ERRORS, "test": UNSEEN_ERRORS}

# About anything but programs.
OFF_TOPIC = (
    *("best recipe for apple pie", "what is the capital of France", "price of gold today"),
    *("who won the football world cup", "weather tomorrow in Berlin", "the plot of Hamlet"),
    *("how to grow tomatoes on a balcony", "lyrics of a love song", "cheap flights to Tokyo"),
    *("symptoms of the flu in children", "how long do I boil an egg", "when was Napoleon born"),
    *("tallest mountain in South America", "how to get rid of moths", "is coffee good for you"),
    *("rules of chess for beginners", "how to remove red wine from a carpet", "what do owls eat"),
    *("opening hours of the town library", "how to change a bicycle tyre", "knitting a scarf"),
    *("causes of the first world war", "exercises for lower back pain", "names for a black cat"),
    *("how to train a puppy", "which wine goes with fish", "distance from the earth to the moon"),
    *("how to write a letter of condolence", "used cars under 5000", "song of the nightingale"),
    *("how to fold a paper crane", "who painted the night watch", "mortgage rates this year"),
    *("how to sharpen kitchen knives", "history of the Ottoman empire", "vegan chocolate cake"),
    *("how to clean a fish tank", "phases of the moon explained", "best hiking boots for winter"),
    *("can dogs eat grapes", "how does a jury reach a verdict", "cure for hiccups"),
    *("how tall was Abraham Lincoln", "train from Paris to Lyon", "meaning of my dream of falling"),
    *("how to propose marriage", "average salary of a nurse", "why is the sky blue"),
)

# What the starter knowledge alone answers, asked in other words than its own.
STARTER_TOPIC = (
    *(
        "how should user passwords be saved",
        "protect a login against guessing",
        "expiring login tokens",
    ),
    *(
        "avoid SQL injection",
        "save a file so that a crash leaves no half of it",
        "shut a server down",
    ),
    *(
        "try a failed request again later",
        "limit how many tasks run at once",
        "share a counter safely",
    ),
    *(
        "two threads wait for each other forever",
        "parse the command line",
        "read numbers from text",
    ),
    *(
        "sort people by age, then name",
        "find a value in a sorted list fast",
        "remove repeated items",
    ),
    *("keep only the last hundred readings", "split a line at commas", "store times in UTC"),
    *("small image for a compiled program", "what should an API answer when input is wrong"),
    *(
        "do the same payment request only once",
        "write tests without a library",
        "roll back on failure",
    ),
    *("money without rounding errors", "stop users from reading files outside a folder"),
    *("verify that a webhook was really sent by them", "hide secrets in log output"),
    *("count words in a file", "daylight saving time gaps", "is the service alive"),
    *("functions in a table", "run a program without going through a shell", "validate JSON input"),
)

_NAME_FORMS = (
    *("{0}", "{0}", "{0}()", "{0} example", "what does {0} do", "def {0}", "call {0}"),
    *("how to use {0}", "`{0}`", "where is {0} defined"),
)


def error_queries(split: str, titles: list[str]) -> list[Query]:
    """Each message with the entry that explains it."""
    made = []
    for text, part in ERRORS[split]:
        answers = frozenset(title for title in titles if part in title)
        if not answers:
            raise ValueError(f"no entry of the starter has {part!r} in its title")
        made.append(Query(group="errors", text=text, answers=answers))
    return made


def web_queries(queries: list[str], answers: list[int]) -> list[Query]:
    """What people asked, with the function that was judged to answer it."""
    pairs = zip(queries, answers, strict=True)
    return [Query(group="web", text=q, answers=frozenset([str(a)])) for q, a in pairs]


def name_queries(sources: list[str], seed: int) -> list[Query]:
    """Names of functions and attributes as people type them, and the functions that have them."""
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for number, source in enumerate(sources):
        for name in _names(source):
            holders[name].add(str(number))
    fit = sorted(name for name, held in holders.items() if len(held) <= SHARED_BY)
    rng = np.random.default_rng(seed)
    made = []
    for at in rng.permutation(len(fit))[:NAMES].tolist():
        typed = _as_typed(fit[at], float(rng.random()))
        form = "{0}" if " " in typed else _NAME_FORMS[int(rng.integers(len(_NAME_FORMS)))]
        found = frozenset(holders[fit[at]])
        made.append(Query(group="names", text=form.format(typed), answers=found))
    return made


def _names(source: str) -> Iterator[str]:
    """The function's own name, and dotted calls in it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            yield node.name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            dotted = ast.unparse(node.func)
            if re.fullmatch(r"(?!self\b|cls\b)[a-z_]{2,}(\.\w+){1,2}", dotted):
                yield dotted


def _as_typed(name: str, chance: float) -> str:
    """Mostly as it is; else without its first part, or as words."""
    if chance < 0.7 or "." in name:
        return name
    if chance < 0.85:
        rest = name.lstrip("_").partition("_")[2]
        return rest if len(rest) >= 6 else name
    return name.strip("_").replace("_", " ")
