"""The headers of C and C++, with the names that each provides."""

import re
from collections.abc import Mapping
from functools import lru_cache

from twinsmith.core.replies.source_text import outline

_MATH = (
    "acos asin atan atan2 cbrt ceil cos exp exp2 fabs fabsf floor fmax fmin fmod hypot isinf isnan "
    "log log10 log2 pow powf round roundf sin sqrt sqrtf tan tanh trunc lround llround HUGE_VAL "
    "INFINITY NAN M_PI M_E"
)
_POSIX: Mapping[str, str] = {
    "arpa/inet.h": "inet_ntop inet_pton",
    "fcntl.h": "O_APPEND O_CREAT O_RDONLY O_RDWR O_TRUNC O_WRONLY fcntl open",
    "netinet/in.h": "INADDR_ANY INADDR_LOOPBACK htonl htons ntohs sockaddr_in",
    "pthread.h": "pthread_create pthread_join pthread_mutex_lock pthread_mutex_t pthread_t",
    "signal.h": "SIGINT SIGKILL SIGPIPE SIGTERM SIG_DFL SIG_IGN kill raise sigaction signal",
    "sys/socket.h": "AF_INET SOCK_STREAM SOL_SOCKET accept bind listen recv send setsockopt socket",
    "sys/stat.h": "S_ISDIR S_ISREG fstat mkdir stat",
    "unistd.h": "STDIN_FILENO STDOUT_FILENO close fork fsync ftruncate getopt getpid isatty optarg "
    "optind read sleep ssize_t unlink usleep write",
}
BY_HEADER: Mapping[str, str] = {
    "assert.h": "assert",
    "ctype.h": "isalnum isalpha isdigit islower isprint ispunct isspace isupper isxdigit tolower "
    "toupper",
    "errno.h": "errno EINTR EINVAL ERANGE",
    "float.h": "DBL_EPSILON DBL_MAX DBL_MIN FLT_EPSILON FLT_MAX FLT_MIN",
    "inttypes.h": "PRId64 PRIu64 PRIu32 PRIx64",
    "limits.h": "CHAR_BIT CHAR_MAX CHAR_MIN INT_MAX INT_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN "
    "SHRT_MAX UCHAR_MAX UINT_MAX ULLONG_MAX ULONG_MAX",
    "math.h": _MATH,
    "stdatomic.h": "atomic_bool atomic_fetch_add atomic_int atomic_load atomic_size_t atomic_store",
    "stdarg.h": "va_arg va_end va_list va_start",
    "stdbool.h": "bool true false",
    "stddef.h": "ptrdiff_t offsetof",
    "stdint.h": "INT32_MAX INT32_MIN INT64_MAX INT64_MIN SIZE_MAX UINT32_MAX UINT64_MAX int16_t "
    "int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintptr_t",
    "stdio.h": "BUFSIZ EOF FILE fclose feof fflush fgetc fgets fopen fprintf fputc fputs fread "
    "fscanf fseek fwrite getchar getline perror printf putchar puts scanf snprintf sprintf "
    "sscanf stderr stdin stdout vsnprintf",
    "stdlib.h": "EXIT_FAILURE EXIT_SUCCESS RAND_MAX abort abs atof atoi atol atoll bsearch calloc "
    "div exit free getenv labs llabs malloc mkstemp qsort rand random realloc srand strtod "
    "strtol strtoll strtoul strtoull",
    "string.h": "index memchr memcmp memcpy memmove memset strcasecmp strcat strchr strcmp strcpy "
    "strcspn strdup strerror strlen strncat strncmp strncpy strndup strpbrk strrchr strspn strstr "
    "strtok strtok_r",
    "time.h": "CLOCKS_PER_SEC clock clock_gettime difftime localtime mktime strftime time time_t",
    **_POSIX,
}
"""The headers of C, with the names by which a program is seen to need them."""
_CLASHES: Mapping[str, str] = {
    "math.h": "y0 y1 yn j0 j1 jn gamma signgam fdim fma logb remainder rint scalb drem significand",
    "stdio.h": "remove rename dprintf tmpfile getw putw fileno popen getdelim",
    "stdlib.h": "select ecvt fcvt gcvt system ldiv lldiv a64l l64a drand48 mktemp setenv putenv",
    "string.h": "rindex bcmp bcopy bzero strsep stpcpy ffs strlcpy strcoll strxfrm strsignal "
    "memmem mempcpy strchrnul strcasestr",
    "time.h": "ctime gmtime asctime timezone daylight tzname timegm nanosleep stime",
    "unistd.h": "access dup link pause pipe unlink chown chdir exec nice swab crypt encrypt brk",
}
"""Other names that headers of C declare; a program that defines one does without the header."""
_ALGORITHMS = (
    "all_of any_of binary_search copy copy_if count count_if equal fill find find_if "
    "for_each is_sorted lower_bound max max_element min min_element next_permutation none_of "
    "nth_element partial_sort prev_permutation remove remove_if replace reverse rotate sort "
    "stable_sort swap transform unique upper_bound clamp"
)
STD_HEADERS: Mapping[str, str] = {
    "algorithm": _ALGORITHMS,
    "array": "array",
    "atomic": "atomic atomic_int",
    "bitset": "bitset",
    "cassert": "assert",
    "cctype": BY_HEADER["ctype.h"],
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "climits": BY_HEADER["limits.h"],
    "cmath": _MATH,
    "condition_variable": "condition_variable",
    "cstdint": BY_HEADER["stdint.h"],
    "cstdio": "fgets fprintf getchar printf putchar puts scanf snprintf sprintf sscanf",
    "cstdlib": "EXIT_FAILURE EXIT_SUCCESS RAND_MAX abort atoi atof calloc exit free malloc qsort "
    "rand srand strtol",
    "cstring": "memcmp memcpy memset strcat strchr strcmp strcpy strlen strncmp strncpy strstr",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "function greater less plus multiplies hash bind",
    "future": "async future packaged_task promise",
    "iomanip": "setfill setprecision setw",
    "iostream": "cerr cin cout endl",
    "iterator": "back_inserter inserter istream_iterator ostream_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex unique_lock",
    "numeric": "accumulate gcd inner_product iota lcm partial_sum",
    "optional": "optional nullopt",
    "queue": "priority_queue queue",
    "random": "mt19937 random_device uniform_int_distribution uniform_real_distribution",
    "regex": "regex regex_match regex_replace regex_search smatch sregex_iterator",
    "set": "multiset set",
    "sstream": "istringstream ostringstream stringstream",
    "stack": "stack",
    "stdexcept": "invalid_argument logic_error out_of_range runtime_error",
    "string": "getline stod stoi stol stoll string to_string",
    "string_view": "string_view",
    "thread": "jthread this_thread thread",
    "tuple": "make_tuple tie tuple",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "utility": "cmp_less exchange make_pair move pair",
    "variant": "holds_alternative variant visit",
    "vector": "vector",
    **_POSIX,
}
"""The headers of C++, with the names by which a program is seen to need them."""
_FROM_C = frozenset(
    {"cassert", "cctype", "climits", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", *_POSIX}
)
_WITH_SIZES = frozenset(
    {"stddef.h", "stdio.h", "stdlib.h", "string.h", "time.h", "unistd.h", "signal.h", "wchar.h"}
)
"""Headers of C after which `size_t` and `NULL` are known."""
_ALIAS = re.compile(r"\b(?:using\b|namespace\s+\w+\s*=)[^;{}]*;")
_ALONE = frozenset(
    {"bool", "cerr", "cin", "cout", "endl", "errno", "false", "nullopt", "stderr", "stdin"}
    | {"stdout", "string", "true", "va_list"}
)
"""Names that are surely the library's; others may be a program's own variables."""


def missing_headers(code: str, language: str, present: set[str]) -> list[str]:
    """The headers that code without comments and literals needs and does not include yet."""
    whole_namespace = bool(re.search(r"\busing\s+namespace\s+std\s*;", code))
    found = [
        header
        for header in (BY_HEADER if language == "c" else STD_HEADERS)
        if header not in present and _provides(header, code, language, all_std=whole_namespace)
    ]
    if language == "c" and _WITH_SIZES.isdisjoint({*present, *found}):
        found += ["stddef.h"] if _words(code)[0] & {"size_t", "NULL"} else []
    return found


def _provides(header: str, code: str, language: str, *, all_std: bool) -> bool:
    """Whether code uses a name of a header, and defines none that would clash with it."""
    names = set((BY_HEADER if language == "c" else STD_HEADERS)[header].split())
    loose, qualified, outer = _words(code)
    if language == "cpp" and not all_std and header not in _FROM_C:
        return not names.isdisjoint(qualified)
    clashes = names | set(_CLASHES.get(header, "").split())
    return not names.isdisjoint(loose | qualified) and clashes.isdisjoint(outer)


@lru_cache(maxsize=4)
def _words(code: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The words of code: used alone, used with `std::`, and declared by the program."""
    text = re.sub(r"^[ \t]*#[^\n]*", "", code, flags=re.MULTILINE).replace("->", ".")
    words = set(re.findall(r"(?<!::)(?<![\w.])([A-Za-z_]\w*)", text))
    used = set(re.findall(r"(?<!::)(?<![\w.])([A-Za-z_]\w*)(?=\s*[<(]|\s*[&*]*\s+[A-Za-z_])", text))
    used |= {word for word in words if word in _ALONE or word.isupper() or word.endswith("_t")}
    qualified = re.findall(r"\bstd\s*::\s*(\w+)", text)
    defined = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", code, re.MULTILINE)
    heads = outline(outline(_ALIAS.sub("", text)), "(", ")")
    outer = re.findall(r"\b(\w+)\s*[(\[=;,]", heads)
    return frozenset(used), frozenset(qualified), frozenset([*outer, *defined])
