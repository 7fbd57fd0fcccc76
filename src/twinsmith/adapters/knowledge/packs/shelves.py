"""Which files of this machine belong to which pack: names of modules, packages and pages."""

PYTHON_MODULES = (
    *("stdtypes", "functions", "argparse", "csv", "json", "re", "datetime", "calendar"),
    *("collections", "itertools"),
    *("functools", "heapq", "bisect", "statistics", "decimal", "fractions", "random", "secrets"),
    *("string", "textwrap", "html", "html.parser", "urllib.parse", "urllib.request"),
    *("http.server", "http.client", "http.cookies", "http", "sqlite3", "pathlib", "os", "os.path"),
    *("shutil", "tempfile", "glob", "fnmatch", "fileinput", "io", "logging", "logging.handlers"),
    *("threading", "queue", "concurrent.futures", "subprocess", "time", "zoneinfo", "uuid"),
    *("hashlib", "hmac", "base64", "struct", "configparser", "tomllib", "contextlib"),
    *("dataclasses", "enum", "typing", "abc", "copy", "operator", "unittest", "unittest.mock"),
    *("doctest", "email.message", "smtplib", "socket", "socketserver", "ssl", "zipfile"),
    *("tarfile", "gzip", "zlib", "shelve", "pickle", "ipaddress", "difflib", "getopt", "sched"),
    *("graphlib", "xml.etree.ElementTree", "xml.etree.elementtree", "cmd", "shlex", "math"),
    *("signal", "sys", "exceptions", "unicodedata", "codecs", "array"),
    *("types", "weakref", "pprint", "reprlib", "numbers", "getpass", "platform", "errno"),
    *("asyncio", "asyncio-task", "asyncio-queue", "asyncio-sync", "asyncio-stream"),
)
PYTHON_MANUAL = (
    *("howto/sorting", "howto/regex", "howto/argparse", "howto/logging", "howto/urllib2"),
    *("tutorial/datastructures", "tutorial/inputoutput", "tutorial/stdlib"),
)

GO_PACKAGES = (
    *("net/http", "encoding/json", "encoding/csv", "flag", "bufio", "sort", "strings", "strconv"),
    *("time", "fmt", "os", "io", "errors", "regexp", "sync", "context", "math", "math/rand"),
    *("bytes", "path/filepath", "html", "html/template", "text/template", "net/url"),
    *("net/http/httptest", "database/sql", "container/heap", "container/list", "log", "unicode"),
    *("unicode/utf8", "text/tabwriter", "crypto/sha256", "crypto/hmac", "crypto/rand", "net"),
    *("encoding/hex", "encoding/base64", "encoding/xml", "os/exec", "os/signal", "io/fs"),
    *("crypto/subtle", "sync/atomic", "math/big", "testing", "mime/multipart", "slices", "maps"),
)

PERL_MODULES = (
    *("Getopt::Long", "List::Util", "Scalar::Util", "POSIX", "Time::Local", "Time::Piece"),
    *("Time::HiRes", "Text::Wrap", "Text::ParseWords", "Text::Tabs", "Text::Abbrev"),
    *("File::Basename", "File::Spec", "File::Temp", "File::Find", "File::Path", "File::Copy"),
    *("File::Compare", "IO::File", "IO::Handle", "IO::Select", "IO::Socket", "IO::Socket::INET"),
    *("JSON::PP", "HTTP::Tiny", "Data::Dumper", "Storable", "Digest::SHA", "Digest::MD5"),
    *("MIME::Base64", "Encode", "Carp", "Cwd", "Math::BigInt", "Math::BigFloat", "Memoize"),
    *("Pod::Usage", "Term::ANSIColor", "Test::More", "Tie::File", "Benchmark", "constant"),
    *("overload", "utf8", "warnings", "strict", "Hash::Util", "Unicode::Normalize", "Env"),
    *("threads", "threads::shared", "Thread::Queue", "IPC::Open3", "feature", "parent"),
    *("Sys::Hostname", "Math::Trig", "open", "bigint", "integer", "Fcntl", "Errno", "autodie"),
)
PERL_PAGES = (
    *("perlfaq4", "perlfaq5", "perlfunc", "perlintro", "perlretut", "perlreftut", "perldsc"),
    *("perllol", "perlopentut", "perlsub", "perlref", "perlrequick", "perldata", "perlop"),
    *("perlre", "perlvar", "perlstyle", "perlsyn", "perlootut", "perluniintro", "perlipc"),
)

RUST_FILES = (
    *("alloc/src/string.rs", "alloc/src/str.rs", "core/src/str/mod.rs", "alloc/src/vec/mod.rs"),
    *("core/src/slice/mod.rs", "alloc/src/slice.rs", "core/src/option.rs", "core/src/result.rs"),
    *("core/src/iter/traits/iterator.rs", "std/src/collections/hash/map.rs"),
    *("std/src/collections/hash/set.rs", "alloc/src/collections/btree/map.rs"),
    *("alloc/src/collections/btree/set.rs", "alloc/src/collections/vec_deque/mod.rs"),
    *("alloc/src/collections/binary_heap.rs", "alloc/src/collections/binary_heap/mod.rs"),
    *("std/src/fs.rs", "std/src/io/mod.rs", "std/src/io/stdio.rs", "std/src/env.rs"),
    *("std/src/process.rs", "std/src/thread/mod.rs", "std/src/sync/mutex.rs"),
    *("std/src/sync/rwlock.rs", "std/src/sync/mpsc/mod.rs", "std/src/net/tcp.rs"),
    *("std/src/time.rs", "core/src/time.rs", "core/src/char/methods.rs", "alloc/src/fmt.rs"),
    *("core/src/fmt/mod.rs", "std/src/error.rs", "core/src/error.rs", "std/src/path.rs"),
    *("core/src/cell.rs", "alloc/src/rc.rs", "alloc/src/sync.rs", "core/src/cmp.rs"),
    *("core/src/convert/mod.rs", "std/src/f64.rs", "core/src/mem/mod.rs", "alloc/src/boxed.rs"),
    *("core/src/iter/traits/collect.rs", "core/src/iter/sources/from_fn.rs"),
    *("core/src/ops/range.rs", "core/src/default.rs", "core/src/str/traits.rs"),
)

C_SYSTEM_CALLS = (
    *("open", "read", "write", "close", "fork", "wait", "execve", "pipe", "dup", "stat", "lseek"),
    *("socket", "bind", "listen", "accept", "connect", "send", "recv", "select", "poll", "kill"),
    *("sigaction", "mmap", "unlink", "rename", "mkdir", "chdir", "getpid", "clock_gettime"),
    *("gettimeofday", "time", "nanosleep", "fcntl", "fsync", "getrandom", "umask", "alarm"),
)
C_OVERVIEWS = (
    *("regex", "glob", "signal", "socket", "tcp", "udp", "ip", "unix", "time", "string_copying"),
    *("utf-8", "charsets", "locale", "pthreads", "pipe", "fifo", "environ", "epoll", "inotify"),
    *("sem_overview", "shm_overview", "mq_overview", "signal-safety", "feature_test_macros"),
    *("math_error", "operator", "ascii", "uri", "man-pages"),
)

CPP_HEADERS = (
    *("stl_algo.h", "stl_algobase.h", "stl_numeric.h", "stl_vector.h", "stl_map.h"),
    *("stl_multimap.h", "stl_set.h", "unordered_map.h", "unordered_set.h", "stl_deque.h"),
    *("stl_list.h", "forward_list.h", "stl_queue.h", "stl_stack.h", "stl_heap.h", "stl_pair.h"),
    *("basic_string.h", "unique_ptr.h", "shared_ptr.h", "stl_iterator.h", "stl_function.h"),
    *("std_function.h", "move.h", "random.h", "regex.h", "std_mutex.h", "std_thread.h"),
    *("unique_lock.h", "basic_ios.h", "fs_path.h", "stl_tempbuf.h", "stl_uninitialized.h"),
    *("ranges_algo.h", "char_traits.h", "locale_facets.h", "stl_bvector.h", "range_access.h"),
)
CPP_TOPICS = (
    *("algorithm", "string/basic_string", "container/vector", "container/map"),
    *("container/unordered_map", "container/set", "container/priority_queue"),
    *("container/deque", "container/array", "io/basic_istream", "io/basic_ifstream"),
    *("io/basic_ofstream", "io/basic_istringstream", "io/basic_ostringstream", "io/manip"),
    *("io/c", "chrono", "regex", "utility", "memory/unique_ptr", "memory/shared_ptr"),
    *("thread/mutex", "thread/thread", "thread/lock_guard", "iterator"),
)

LIBRARIES: dict[str, tuple[str, ...]] = {
    "flask": ("flask", "werkzeug", "jinja2", "markupsafe", "itsdangerous"),
    "fastapi": ("fastapi", "starlette", "uvicorn"),
    "pydantic": ("pydantic",),
    "jwt": ("pyjwt",),
    "argon2": ("argon2-cffi",),
    "cryptography": ("cryptography",),
    "httpx": ("httpx",),
    "sqlalchemy": ("sqlalchemy",),
    "numpy": ("numpy",),
    "pytest": ("pytest",),
}
"""Packs of Python libraries that programs may use, by the distributions that they read."""
IMPORTED_AS = {"pyjwt": "jwt", "argon2-cffi": "argon2", "pytest": "_pytest"}
LEFT_OUT_FOLDERS = frozenset(
    {"tests", "testing", "_internal", "f2py", "distutils", "v1", "dialects"}
)
