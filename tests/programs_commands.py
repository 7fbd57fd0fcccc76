"""Commands that do what sentences of the benchmark ask for, and mistakes that its truth refuses.

Each is a source with changes; every change makes it wrong.
"""

CSV_TOTALS = r"""
import argparse, csv, sys
from collections import defaultdict
from decimal import Decimal

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--by", required=True)
parser.add_argument("--sum", required=True)
args = parser.parse_args()
try:
    with open(args.file, newline="") as held:
        totals = defaultdict(Decimal)
        for row in csv.DictReader(held):
            totals[row[args.by]] += Decimal(row[args.sum])
except OSError as error:
    sys.exit(print(error, file=sys.stderr) or 2)
except KeyError as error:
    sys.exit(print(f"no column {error}", file=sys.stderr) or 2)
for value in sorted(totals):
    print(f"{value}\t{totals[value]:.2f}")
"""

DAYS = """
import sys
from datetime import date, timedelta

words = [word for word in sys.argv[1:] if word != "--workdays"]
try:
    first, last = sorted(date.fromisoformat(word) for word in words)
except ValueError as error:
    print(error, file=sys.stderr)
    sys.exit(1)
days = [first + timedelta(days=n) for n in range((last - first).days)]
if "--workdays" in sys.argv:
    days = [day for day in days if day.weekday() < 5]
print(len(days))
"""

LOG_REPORT = r"""
import re, sys
from collections import Counter

statuses, paths = Counter(), Counter()
for line in sys.stdin:
    found = re.match(r'\S+ \S+ \S+ \[[^]]+\] "\S+ (\S+)[^"]*" (\d{3}) ', line)
    if found:
        paths[found[1]] += 1
        statuses[found[2]] += 1
print("Status codes:")
for status, count in sorted(statuses.items()):
    print(f"  {status}: {count}")
print("Top paths:")
for path, count in paths.most_common(3):
    print(f"  {path}: {count}")
"""

WRAP = r"""package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

func main() {
	width := flag.Int("w", 72, "width")
	flag.Parse()
	if *width < 1 {
		fmt.Fprintln(os.Stderr, "the width is at least 1")
		os.Exit(2)
	}
	text, _ := io.ReadAll(os.Stdin)
	first := true
	for _, paragraph := range regexp.MustCompile(`\n[ \t]*\n\s*`).Split(string(text), -1) {
		words := strings.Fields(paragraph)
		if len(words) == 0 {
			continue
		}
		if !first {
			fmt.Println()
		}
		first = false
		line := words[0]
		for _, word := range words[1:] {
			if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > *width {
				fmt.Println(line)
				line = word
			} else {
				line += " " + word
			}
		}
		fmt.Println(line)
	}
}
"""

JSON_GET = r"""package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	var value interface{}
	if decoder.Decode(&value) != nil {
		fmt.Fprintln(os.Stderr, "no JSON")
		os.Exit(2)
	}
	for _, part := range strings.Split(os.Args[1], ".") {
		there := false
		switch held := value.(type) {
		case map[string]interface{}:
			value, there = held[part]
		case []interface{}:
			n, err := strconv.Atoi(part)
			if err == nil && n >= 0 && n < len(held) {
				value, there = held[n], true
			}
		}
		if !there {
			os.Exit(1)
		}
	}
	if text, ok := value.(string); ok {
		fmt.Println(text)
		return
	}
	written, _ := json.Marshal(value)
	fmt.Println(string(written))
}
"""

WORD_COUNTS = r"""
use strict;
use warnings;
use Getopt::Long;

my $most = 10;
GetOptions('n=i' => \$most);
my %counts;
while (my $line = <STDIN>) {
    $counts{lc $1}++ while $line =~ /([A-Za-z']+)/g;
}
my @words = sort { $counts{$b} <=> $counts{$a} || $a cmp $b } keys %counts;
$#words = $most - 1 if @words > $most;
print "$counts{$_} $_\n" for @words;
"""

INI = r"""
use strict;
use warnings;

my $file = shift // '';
open my $held, '<', $file or do { print STDERR "$file: $!\n"; exit 2 };
my ($section, %values) = ('');
while (my $line = <$held>) {
    $line =~ s/^\s+|\s+$//g;
    next if $line eq '' or $line =~ /^[;#]/;
    if ($line =~ /^\[\s*(.*?)\s*\]$/) { $section = "$1."; next }
    my ($key, $value) = split /\s*=\s*/, $line, 2;
    $values{"$section$key"} = $value // '';
}
print "$_=$values{$_}\n" for sort keys %values;
"""

RPN = r"""
fn calculated(words: &[String]) -> Result<f64, String> {
    let mut stack: Vec<f64> = Vec::new();
    for word in words {
        if let Ok(number) = word.parse::<f64>() {
            stack.push(number);
            continue;
        }
        let b = stack.pop().ok_or("too few operands")?;
        let a = stack.pop().ok_or("too few operands")?;
        stack.push(match word.as_str() {
            "+" => a + b,
            "-" => a - b,
            "x" => a * b,
            "/" if b == 0.0 => return Err("division by zero".to_string()),
            "/" => a / b,
            _ => return Err(format!("unknown word {word}")),
        });
    }
    match stack.as_slice() {
        [result] => Ok(*result),
        _ => Err("not one result".to_string()),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match calculated(&words) {
        Ok(result) => {
            let text = format!("{result:.6}");
            println!("{}", text.trim_end_matches('0').trim_end_matches('.'));
        }
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(1);
        }
    }
}
"""

DURATIONS = r"""
use std::io::Read;

fn seconds(text: &str) -> Option<u64> {
    let (mut total, mut rest, mut any) = (0, text, false);
    for (unit, worth) in [('h', 3600), ('m', 60), ('s', 1)] {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && rest[digits..].starts_with(unit) {
            total += rest[..digits].parse::<u64>().ok()? * worth;
            rest = &rest[digits + 1..];
            any = true;
        }
    }
    if any && rest.is_empty() { Some(total) } else { None }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).unwrap();
        words = text.split_whitespace().map(str::to_string).collect();
    }
    let mut total = 0;
    for word in &words {
        match seconds(word) {
            Some(more) => total += more,
            None => {
                eprintln!("{word:?} is no duration");
                std::process::exit(1);
            }
        }
    }
    println!("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}
"""

SUMMARY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return x < y ? -1 : x > y;
}

int main(void) {
    size_t count = 0, room = 16;
    long *values = malloc(room * sizeof *values);
    char word[64], *end;
    double sum = 0;
    while (scanf("%63s", word) == 1) {
        if (count == room) values = realloc(values, (room *= 2) * sizeof *values);
        values[count] = strtol(word, &end, 10);
        if (*end) { fprintf(stderr, "%s is no whole number\n", word); return 1; }
        sum += (double)values[count++];
    }
    if (!count) { fprintf(stderr, "no numbers\n"); return 1; }
    qsort(values, count, sizeof *values, by_value);
    double median = (double)(values[(count - 1) / 2] + values[count / 2]) / 2;
    printf("min %ld\nmax %ld\n", values[0], values[count - 1]);
    printf("mean %.2f\nmedian %.1f\n", sum / (double)count, median);
    free(values);
    return 0;
}
"""

MERGE = r"""
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

int main() {
    std::vector<std::pair<long, long>> all, merged;
    std::string line, more;
    while (std::getline(std::cin, line)) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        std::istringstream words(line);
        long start, end;
        if (!(words >> start >> end) || words >> more || end < start) {
            std::cerr << "no interval: " << line << "\n";
            return 2;
        }
        all.push_back({start, end});
    }
    std::sort(all.begin(), all.end());
    long total = 0;
    for (auto [start, end] : all) {
        if (!merged.empty() && start <= merged.back().second)
            merged.back().second = std::max(merged.back().second, end);
        else
            merged.push_back({start, end});
    }
    for (auto [start, end] : merged) {
        std::cout << start << " " << end << "\n";
        total += end - start;
    }
    std::cout << "total " << total << "\n";
}
"""

COMMANDS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "csv-totals": (
        CSV_TOTALS,
        (
            ("in sorted(totals)", "in totals"),
            ("except KeyError as error", "except TypeError as error"),
        ),
    ),
    "days": (DAYS, (("day.weekday() < 5", "day.weekday() < 6"), ("= sorted(", "= list("))),
    "log-report": (
        LOG_REPORT,
        (
            ("most_common(3)", "most_common()"),
            ("statuses[found[2]] += 1", "statuses[found[2]] = 1"),
        ),
    ),
    "wrap": (
        WRAP,
        (
            ("utf8.RuneCountInString(line)", "len(line)"),
            ('"w", 72', '"w", 80'),
            ("> *width", ">= *width"),
        ),
    ),
    "json-get": (JSON_GET, (("n >= 0 && n < len(held)", "n > 0 && n < len(held)"),)),
    "word-counts": (WORD_COUNTS, (("lc $1", "$1"), ("|| $a cmp $b", "|| $b cmp $a"))),
    "ini": (INI, (("$line, 2;", "$line;"), ('$section = "$1."', '$section ||= "$1."'))),
    "rpn": (RPN, (("a - b", "b - a"), (" if b == 0.0 =>", " if b.is_nan() =>"))),
    "durations": (DURATIONS, (("total / 3600", "total / 3600 % 24"),)),
    "summary": (SUMMARY, (("values[(count - 1) / 2]", "values[count / 2]"),)),
    "merge": (MERGE, (("start <= merged", "start < merged"),)),
}
