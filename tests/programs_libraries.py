"""Libraries that do what sentences of the benchmark ask for, and mistakes that its truth refuses.

Each is a source with changes; every change makes it wrong.
"""

RATE_LIMITER = """
class RateLimiter:
    def __init__(self, limit, seconds):
        if limit <= 0 or seconds <= 0:
            raise ValueError("limit and seconds are positive")
        self.limit, self.seconds, self.seen = limit, seconds, {}

    def remaining(self, key, now):
        recent = [t for t in self.seen.get(key, []) if now - t < self.seconds]
        self.seen[key] = recent
        return self.limit - len(recent)

    def allow(self, key, now):
        if self.remaining(key, now) <= 0:
            return False
        self.seen[key].append(now)
        return True
"""

FORGETFUL = """
class Cache:
    def __init__(self, size, ttl):
        self.size, self.ttl, self.held = size, ttl, {}

    def _tidy(self, now):
        self.held = {k: v for k, v in self.held.items() if now < v[1] + self.ttl}

    def put(self, key, value, now):
        self._tidy(now)
        self.held.pop(key, None)
        self.held[key] = (value, now)
        if len(self.held) > self.size:
            del self.held[next(iter(self.held))]

    def get(self, key, now):
        self._tidy(now)
        if key not in self.held:
            return None
        self.held[key] = self.held.pop(key)
        return self.held[key][0]

    def count(self, now):
        self._tidy(now)
        return len(self.held)
"""

MONEY = r"""
import re

def parse(text):
    found = re.fullmatch(r"(-?)(\d{1,3}(?:,\d{3})*|\d+)(?:\.(\d{1,2}))?", text)
    if not found:
        raise ValueError(f"{text!r} is no amount")
    sign, whole, part = found.groups()
    cents = int(whole.replace(",", "")) * 100 + int((part or "0").ljust(2, "0"))
    return -cents if sign else cents

def show(cents):
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"

def share(cents, parts):
    each, more = divmod(cents, parts)
    return [each + 1] * more + [each] * (parts - more)

def percent(cents, rate):
    product = cents * rate
    rounded = (abs(product) + 50) // 100
    return rounded if product >= 0 else -rounded
"""

PERIODS = """
from datetime import date, timedelta

DAY = timedelta(days=1)

def read(period):
    first, last = (date.fromisoformat(each) for each in period)
    if last < first:
        raise ValueError("ends before it begins")
    return first, last

def written(first, last):
    return first.isoformat(), last.isoformat()

def length(period):
    first, last = read(period)
    return (last - first).days + 1

def overlap(a, b):
    (one, two), (three, four) = read(a), read(b)
    first, last = max(one, three), min(two, four)
    return written(first, last) if first <= last else None

def merge(periods):
    made = []
    for first, last in sorted(map(read, periods)):
        if made and first <= made[-1][1] + DAY:
            made[-1] = (made[-1][0], max(last, made[-1][1]))
        else:
            made.append((first, last))
    return [written(*each) for each in made]

def free(periods, within):
    (day, end), found = read(within), []
    for first, last in map(read, merge(periods)):
        if day < first and day <= end:
            found.append(written(day, min(first - DAY, end)))
        day = max(day, last + DAY)
    return [*found, written(day, end)] if day <= end else found
"""

CHORES = """
class Plan:
    def __init__(self):
        self.needs, self.finished = {}, set()

    def add(self, chore, needs):
        self.needs[chore] = list(needs)

    def _ready(self, finished):
        return sorted(c for c, n in self.needs.items()
                      if c not in finished and all(each in finished for each in n))

    def ready(self):
        return self._ready(self.finished)

    def done(self, chore):
        if chore not in self.needs:
            raise KeyError(chore)
        if chore not in self.ready():
            raise ValueError(chore)
        self.finished.add(chore)

    def order(self):
        finished, found = set(self.finished), []
        while len(finished) < len(self.needs):
            ready = self._ready(finished)
            if not ready:
                raise ValueError("a circle")
            found.append(ready[0])
            finished.add(ready[0])
        return found
"""

STATISTICS = """package statistics

import "sort"

func Median(values []float64) float64 {
	sorted := append([]float64{}, values...)
	sort.Float64s(sorted)
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func Modes(values []int) []int {
	counts, most := map[int]int{}, 0
	for _, v := range values {
		counts[v]++
		if counts[v] > most {
			most = counts[v]
		}
	}
	modes := []int{}
	for v, c := range counts {
		if c == most {
			modes = append(modes, v)
		}
	}
	sort.Ints(modes)
	return modes
}

func MovingAverage(values []float64, window int) []float64 {
	averages := []float64{}
	if window < 1 {
		return averages
	}
	for i := 0; i+window <= len(values); i++ {
		sum := 0.0
		for _, v := range values[i : i+window] {
			sum += v
		}
		averages = append(averages, sum/float64(window))
	}
	return averages
}
"""

CIPHERS = """
fn moved(c: char, by: i32) -> char {
    if !c.is_ascii_alphabetic() {
        return c;
    }
    let base = if c.is_ascii_uppercase() { b'A' } else { b'a' };
    let place = (c as u8 - base) as i32;
    (base + (place + by).rem_euclid(26) as u8) as char
}

pub fn caesar(text: &str, shift: i32) -> String {
    text.chars().map(|c| moved(c, shift % 26)).collect()
}

pub fn vigenere(text: &str, key: &str) -> String {
    let keys: Vec<i32> =
        key.chars().map(|c| (c.to_ascii_lowercase() as u8 - b'a') as i32).collect();
    let mut used = 0;
    text.chars()
        .map(|c| {
            if !c.is_ascii_alphabetic() {
                return c;
            }
            used += 1;
            moved(c, keys[(used - 1) % keys.len()])
        })
        .collect()
}

pub fn rail_fence(text: &str, rails: usize) -> String {
    if rails < 2 {
        return text.to_string();
    }
    let mut rows = vec![String::new(); rails];
    for (n, c) in text.chars().enumerate() {
        let place = n % (2 * rails - 2);
        rows[place.min(2 * rails - 2 - place)].push(c);
    }
    rows.concat()
}
"""

NAMES = r"""
use strict;
use warnings;

sub initials {
    my ($name) = @_;
    return join '', map { uc(substr $_, 0, 1) . '.' } split ' ', $name;
}

sub snake {
    my ($name) = @_;
    $name =~ s/(?<=[a-z0-9])(?=[A-Z])/_/g;
    $name =~ s/[\s-]+/_/g;
    return lc $name;
}

sub abbreviate {
    my ($text, $length) = @_;
    return $text if length $text <= $length;
    my $room = $length - 3;
    my $cut = substr $text, 0, $room + 1;
    my $space = rindex $cut, ' ';
    return substr($text, 0, $space > 0 ? $space : $room) . '...';
}

1;
"""

BIG_NUMBERS = r"""
#include <algorithm>
#include <string>
#include <vector>

static std::string plain(const std::string& text) {
    auto start = text.find_first_not_of('0');
    return start == std::string::npos ? "0" : text.substr(start);
}

int compare(const std::string& a, const std::string& b) {
    std::string x = plain(a), y = plain(b);
    if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
    return x == y ? 0 : x < y ? -1 : 1;
}

std::string add(const std::string& a, const std::string& b) {
    std::string sum;
    int carry = 0;
    for (size_t i = 0; i < std::max(a.size(), b.size()) || carry; i++) {
        if (i < a.size()) carry += a[a.size() - 1 - i] - '0';
        if (i < b.size()) carry += b[b.size() - 1 - i] - '0';
        sum += char('0' + carry % 10);
        carry /= 10;
    }
    std::reverse(sum.begin(), sum.end());
    return plain(sum);
}

std::string subtract(const std::string& a, const std::string& b) {
    std::string rest = a;
    int borrow = 0;
    for (size_t i = 0; i < a.size(); i++) {
        int digit = a[a.size() - 1 - i] - '0' - borrow;
        if (i < b.size()) digit -= b[b.size() - 1 - i] - '0';
        borrow = digit < 0;
        rest[a.size() - 1 - i] = char('0' + (digit + 10) % 10);
    }
    return plain(rest);
}

std::string multiply(const std::string& a, const std::string& b) {
    std::vector<int> digits(a.size() + b.size() + 1);
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < b.size(); j++)
            digits[i + j] += (a[a.size() - 1 - i] - '0') * (b[b.size() - 1 - j] - '0');
    std::string text;
    int carry = 0;
    for (int digit : digits) {
        carry += digit;
        text += char('0' + carry % 10);
        carry /= 10;
    }
    std::reverse(text.begin(), text.end());
    return plain(text);
}
"""

LIBRARIES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "rate-limiter": (
        RATE_LIMITER,
        (
            ("now - t < self", "now - t <= self"),
            ("            return False\n", "            pass\n"),
        ),
    ),
    "forgetful-cache": (
        FORGETFUL,
        (
            ("now < v[1] + self.ttl", "now <= v[1] + self.ttl"),
            ("        self.held[key] = self.held.pop(key)\n", ""),
            (
                "    def put(self, key, value, now):\n        self._tidy(now)\n",
                "    def put(self, key, value, now):\n",
            ),
        ),
    ),
    "money": (
        MONEY,
        (
            (r"\d{1,2})", r"\d+)"),
            ("+ 50) // 100", "+ 49) // 100"),
            ("each + 1] * more", "each] * more"),
        ),
    ),
    "periods": (
        PERIODS,
        (
            ("made[-1][1] + DAY", "made[-1][1]"),
            (".days + 1", ".days"),
            ("if last < first", "if False"),
        ),
    ),
    "chores": (
        CHORES,
        (
            ("sorted(c for c, n", "list(c for c, n"),
            ("        if chore not in self.ready():\n            raise ValueError(chore)\n", ""),
        ),
    ),
    "statistics": (
        STATISTICS,
        (
            ("append([]float64{}, values...)", "values"),
            ("sort.Ints(modes)", "sort.Sort(sort.Reverse(sort.IntSlice(modes)))"),
        ),
    ),
    "ciphers": (CIPHERS, (("            used += 1;\n            moved", "            moved"),)),
    "names": (NAMES, (("$length - 3", "$length"), ("(?<=[a-z0-9])(?=[A-Z])", "(?=[A-Z])"))),
    "big-numbers": (
        BIG_NUMBERS,
        (("|| carry; i++", "; i++"), ("borrow = digit < 0", "borrow = 0")),
    ),
}
