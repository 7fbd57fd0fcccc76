"""The same checks on the same functions in six languages, and a service in each."""

import pytest

from tests.sandboxes import checks, code, needs, run
from twinsmith.core.execution import Execution

FUNCTIONS = {
    "python": """
def has_pair(xs, total):
    if not xs: raise ValueError("empty")
    return any(xs[i] + xs[j] == total for i in range(len(xs)) for j in range(i))
def sort_it(xs): xs.sort()
def shout(s): return s.upper() + "!"
def mean(xs): return sum(xs) / len(xs)
def forever():
    while True: pass
def crash():
    import os; os.abort()
""",
    "perl": """
use strict; use warnings;
sub has_pair {
    my ($xs, $total) = @_;
    die "empty\\n" unless @$xs;
    for my $i (0 .. $#$xs) { for my $j (0 .. $i - 1) {
        return 1 == 1 if $xs->[$i] + $xs->[$j] == $total } }
    return 1 == 0;
}
sub sort_it { my ($xs) = @_; @$xs = sort { $a <=> $b } @$xs; return }
sub shout { return uc($_[0]) . "!" }
sub mean { my ($xs) = @_; my $s = 0; $s += $_ for @$xs; return $s / @$xs }
sub forever { 1 while 1 }
sub crash { kill 6, $$; sleep 5 }
""",
    "rust": """
pub fn has_pair(xs: &[i64], total: i64) -> Result<bool, String> {
    if xs.is_empty() { return Err("empty".to_string()); }
    for i in 0..xs.len() { for j in 0..i { if xs[i] + xs[j] == total { return Ok(true); } } }
    Ok(false)
}
fn sort_it(xs: &mut Vec<i64>) { xs.sort(); }
fn shout(s: &str) -> String { s.to_uppercase() + "!" }
fn mean(xs: Vec<f64>) -> f64 { xs.iter().sum::<f64>() / xs.len() as f64 }
fn forever() { loop { std::hint::spin_loop() } }
fn crash() { std::process::abort() }
""",
    "go": """
package solution

import ("errors"; "sort"; "strings"; "syscall"; "time")

func HasPair(xs []int, total int) (bool, error) {
    if len(xs) == 0 { return false, errors.New("empty") }
    for i := range xs { for j := 0; j < i; j++ {
        if xs[i] + xs[j] == total { return true, nil } } }
    return false, nil
}
func SortIt(xs []int) { sort.Ints(xs) }
func Shout(s string) string { return strings.ToUpper(s) + "!" }
func Mean(xs []float64) float64 {
    s := 0.0
    for _, x := range xs { s += x }
    return s / float64(len(xs))
}
func Forever() { for { } }
func Crash() { syscall.Kill(syscall.Getpid(), syscall.SIGKILL); time.Sleep(5 * time.Second) }
""",
    "c": """
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
bool has_pair(const int *xs, int n, int total) {
    for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)
        if (xs[i] + xs[j] == total) return true;
    return false;
}
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sort_it(int *xs, size_t n) { qsort(xs, n, sizeof *xs, less); }
char *shout(const char *s) {
    char *r = malloc(strlen(s) + 2);
    size_t i = 0;
    for (; s[i]; i++) r[i] = toupper((unsigned char)s[i]);
    r[i] = '!'; r[i + 1] = 0;
    return r;
}
double mean(const double *xs, size_t n) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += xs[i];
    return s / n;
}
void forever(void) { for (volatile int i = 0;; i++) { } }
void crash(void) { abort(); }
""",
    "cpp": """
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
bool has_pair(const std::vector<int> &xs, int total) {
    if (xs.empty()) throw std::invalid_argument("empty");
    for (size_t i = 0; i < xs.size(); i++) for (size_t j = 0; j < i; j++)
        if (xs[i] + xs[j] == total) return true;
    return false;
}
void sort_it(std::vector<int> &xs) { std::sort(xs.begin(), xs.end()); }
std::string shout(std::string s) { for (auto &c : s) c = toupper(c); return s + "!"; }
double mean(std::vector<double> xs) {
    double s = 0;
    for (auto x : xs) s += x;
    return s / xs.size();
}
void forever() { for (volatile int i = 0;; i++) { } }
void crash() { std::abort(); }
""",
}

SERVICES = {
    "perl": """
use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ENV{PORT}, Listen => 5,
    ReuseAddr => 1) or die $!;
while (my $c = $s->accept) {
    my ($line) = <$c> =~ m{^\\S+ (\\S+)};
    while (<$c>) { last if /^\\s*$/ }
    print $c "HTTP/1.1 200 OK\\r\\nContent-Length: " . length($line) . "\\r\\n\\r\\n$line";
    close $c;
}
""",
    "rust": """
use std::io::{BufRead, BufReader, Write};
fn main() {
    let port = std::env::var("PORT").unwrap();
    let server = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for stream in server.incoming() {
        let mut stream = stream.unwrap();
        let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_string();
        for line in lines { if line.is_empty() { break; } }
        let size = path.len();
        write!(stream, "HTTP/1.1 200 OK\\r\\nContent-Length: {size}\\r\\n\\r\\n{path}").unwrap();
    }
}
""",
    "go": """
package main

import ("fmt"; "net/http"; "os")

func main() {
    http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) })
    fmt.Println(http.ListenAndServe("127.0.0.1:" + os.Getenv("PORT"), nil))
}
""",
    "c": """
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT"))),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 5)) return 1;
    for (;;) {
        int c = accept(s, 0, 0);
        char in[4096] = {0}, path[1024] = {0}, out[2048];
        if (read(c, in, sizeof in - 1) <= 0) continue;
        sscanf(in, "%*s %1000s", path);
        int n = sprintf(out, "HTTP/1.1 200 OK\\r\\nContent-Length: %zu\\r\\n\\r\\n%s",
                        strlen(path), path);
        if (write(c, out, n) != n) return 2;
        close(c);
    }
}
""",
}
SERVICES["cpp"] = SERVICES["c"].replace(
    'struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT"))),\n'
    "                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};",
    'struct sockaddr_in a = {}; a.sin_family = AF_INET; a.sin_port = htons(atoi(getenv("PORT")));'
    " a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);",
)


async def tried(language: str, *sources: str) -> Execution:
    needs(language)
    execution = await run(
        FUNCTIONS[language], language=language, kind="function", probes=checks(*sources)
    )
    assert execution.results, execution.problem
    return execution


@pytest.mark.parametrize("language", FUNCTIONS)
async def test_one_notation_for_all(language: str) -> None:
    execution = await tried(
        language,
        "assert has_pair([1, 2, 3], 5) == True",
        "assert has_pair([1, 2, 3], 7) == False",
        "assert has_pair([4, -4], 0)",
        "xs = [3, 1, 2]\nsort_it(xs)\nassert xs == [1, 2, 3]",
        "assert shout('ab') == 'AB!'",
        "assert mean([1.0, 2.5]) == 1.75",
        "for n in range(5):\n    assert mean([n + 0.25, n + 0.75]) == n + 0.5",
        "assert shout('ab') == 'ab'",
    )
    seen = [result.outcome for result in execution.results]
    assert seen == ["passed"] * 7 + ["failed"], execution.results
    assert execution.results[7].detail.endswith("('ab') returned 'AB!'")
    assert all(result.cpu_seconds > 0 and result.peak_mb > 1 for result in execution.results)


@pytest.mark.parametrize("language", FUNCTIONS)
async def test_what_goes_wrong_is_told_apart(language: str) -> None:
    execution = await tried(
        language, "crash()", "forever()", "assert absent(1) == 1", "has_pair([], 1)"
    )
    crashed, endless, unknown, empty = execution.results
    signal = "SIGKILL" if language == "go" else "SIGABRT"
    assert (crashed.outcome, crashed.detail) == ("killed", f"the program ended by {signal}")
    assert endless.outcome == "timed out"
    assert (unknown.outcome, "NameError" in unknown.detail) == ("raised", True)
    if language == "c":
        assert empty.outcome == "passed"
    else:
        assert (empty.outcome, "empty" in empty.detail) == ("raised", True)


@pytest.mark.parametrize("language", ["rust", "go", "c", "cpp"])
async def test_what_does_not_compile_says_where(language: str) -> None:
    needs(language)
    execution = await run(
        FUNCTIONS[language] + "\n}\n", language=language, kind="function", probes=checks("f()")
    )
    assert execution.results == ()
    assert execution.problem.startswith("does not compile: ")
    assert "solution." in execution.problem


@pytest.mark.parametrize("language", SERVICES)
async def test_a_service_answers(language: str) -> None:
    needs(language)
    probes = code(
        "r = http('GET', '/one')\nassert (r.status, r.text) == (200, '/one')",
        "assert http('GET', '/two').text == '/one'",
    )
    execution = await run(SERVICES[language], language=language, kind="service", probes=probes)
    assert execution.results, execution.problem
    assert [r.outcome for r in execution.results] == ["passed", "failed"], execution
    assert execution.results[1].detail.endswith("GET /two gave 200 '/two'")
    assert execution.peak_mb > 1


async def test_calls_that_share_a_process_are_told_apart_all_the_same() -> None:
    source = (
        "def f(n):\n    print('call', n)\n    big = 'x' * (n << 20)\n    if n == 3:\n"
        "        raise ValueError(n)\n    while n == 5:\n        pass\n"
        "    return sum(range(n * 20_000))\n"
    )
    probes = checks(*(f"assert f({n}) == {sum(range(n * 20_000))}" for n in (1, 3, 40, 5, 2)))
    execution = await run(source, kind="function", probes=probes)
    assert [r.outcome for r in execution.results] == [
        *("passed", "raised", "passed", "timed out", "passed")
    ]
    outputs = [result.output for result in execution.results]
    # What one that never comes back had printed may have waited in its buffer.
    assert outputs.pop(3) in ("", "call 5\n")
    assert outputs == ["call 1\n", "call 3\n", "call 40\n", "call 2\n"]
    first, _, large, endless, last = execution.results
    assert large.peak_mb - first.peak_mb > 30
    assert large.peak_mb - last.peak_mb > 30
    assert large.cpu_seconds > first.cpu_seconds > 0
    assert endless.cpu_seconds > large.cpu_seconds
