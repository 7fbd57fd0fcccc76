"""Services in Go, Rust, Perl and C++ that do what sentences of the benchmark ask for.

Each is a source with changes; every change makes it wrong.
"""

POLLS = r"""package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type poll struct {
	counts map[string]int
	voters map[string]bool
}

var polls = map[string]*poll{}
var lock sync.Mutex

func answer(w http.ResponseWriter, status int, value interface{}) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

func create(w http.ResponseWriter, r *http.Request) {
	var given struct{ Options []string }
	if json.NewDecoder(r.Body).Decode(&given) != nil || len(given.Options) < 2 {
		answer(w, 400, "two options at least")
		return
	}
	made := &poll{map[string]int{}, map[string]bool{}}
	for _, option := range given.Options {
		made.counts[option] = 0
	}
	id := strconv.Itoa(len(polls) + 1)
	polls[id] = made
	answer(w, 201, map[string]string{"id": id})
}

func main() {
	http.HandleFunc("/polls", create)
	http.HandleFunc("/polls/", func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		parts := strings.Split(r.URL.Path, "/")
		held, there := polls[parts[2]]
		if !there || len(parts) != 4 {
			answer(w, 404, "no such poll")
			return
		}
		if parts[3] == "results" {
			answer(w, 200, held.counts)
			return
		}
		var given struct{ Voter, Option string }
		json.NewDecoder(r.Body).Decode(&given)
		if _, known := held.counts[given.Option]; !known {
			answer(w, 400, "no such option")
			return
		}
		if held.voters[given.Voter] {
			answer(w, 409, "voted already")
			return
		}
		held.voters[given.Voter] = true
		held.counts[given.Option]++
		answer(w, 201, "counted")
	})
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
"""

SNIPPETS = r"""package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
)

type snippet struct {
	Text string `json:"text"`
}

var (
	kept = map[string]string{}
	last = 0
	lock sync.Mutex
)

func save(w http.ResponseWriter, r *http.Request) {
	var given snippet
	if r.Method != http.MethodPost {
		w.WriteHeader(405)
		return
	}
	if json.NewDecoder(r.Body).Decode(&given) != nil || given.Text == "" {
		w.WriteHeader(400)
		return
	}
	lock.Lock()
	defer lock.Unlock()
	last++
	id := fmt.Sprintf("s%d", last)
	kept[id] = given.Text
	w.WriteHeader(201)
	json.NewEncoder(w).Encode(map[string]string{"id": id})
}

func one(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	defer lock.Unlock()
	id := strings.TrimPrefix(r.URL.Path, "/snippets/")
	text, there := kept[id]
	switch {
	case !there:
		w.WriteHeader(404)
	case r.Method == http.MethodDelete:
		delete(kept, id)
		w.WriteHeader(204)
	case r.Method == http.MethodGet:
		json.NewEncoder(w).Encode(snippet{text})
	}
}

func main() {
	http.HandleFunc("/snippets", save)
	http.HandleFunc("/snippets/", one)
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
"""

LENGTHS = r"""
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

fn meters(unit: &str) -> Option<f64> {
    match unit {
        "m" => Some(1.0),
        "km" => Some(1000.0),
        "cm" => Some(0.01),
        "ft" => Some(0.3048),
        "mi" => Some(1609.344),
        _ => None,
    }
}

fn converted(query: &str) -> Option<f64> {
    let given: HashMap<&str, &str> = query.split('&').filter_map(|p| p.split_once('=')).collect();
    let value: f64 = given.get("value")?.parse().ok()?;
    Some(value * meters(given.get("from")?)? / meters(given.get("to")?)?)
}

fn answer(target: &str) -> (u16, String) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match path {
        "/convert" => match converted(query) {
            Some(value) => (200, format!("{{\"value\": {value}}}")),
            None => (400, "{}".to_string()),
        },
        "/units" => (200, r#"["cm", "ft", "km", "m", "mi"]"#.to_string()),
        _ => (404, "{}".to_string()),
    }
}

fn main() {
    let port = std::env::var("PORT").unwrap();
    for stream in TcpListener::bind(format!("127.0.0.1:{port}")).unwrap().incoming() {
        let mut stream = stream.unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut first, mut line) = (String::new(), String::new());
        reader.read_line(&mut first).unwrap();
        while reader.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        let (status, text) = answer(first.split(' ').nth(1).unwrap_or("/"));
        let head = format!("Content-Length: {}\r\nConnection: close", text.len());
        write!(stream, "HTTP/1.1 {status} X\r\n{head}\r\n\r\n{text}").unwrap();
    }
}
"""

HITS = r"""
use strict;
use warnings;
use IO::Socket::INET;

my %hits;

sub answer {
    my ($method, $path) = @_;
    if ($path eq '/hits') {
        my @names = sort { $hits{$b} <=> $hits{$a} || $a cmp $b } keys %hits;
        return (200, join '', map { "$_ $hits{$_}\n" } @names);
    }
    return (404, "no such path\n") unless $path =~ m{^/hits/(.*)$};
    my $name = $1;
    return (400, "no such name\n") unless $name =~ /^[A-Za-z0-9-]+$/;
    return (200, ++$hits{$name} . "\n") if $method eq 'POST';
    if ($method eq 'DELETE') { delete $hits{$name}; return (204, '') }
    return (200, ($hits{$name} // 0) . "\n");
}

my $server = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT}, Listen => 64, ReuseAddr => 1,
) or die "cannot listen: $@";
while (my $client = $server->accept) {
    my ($method, $path) = split ' ', <$client> // '';
    while (defined(my $line = <$client>)) { last if $line =~ /^\r?\n$/ }
    my ($status, $text) = answer($method, $path);
    my $head = "Content-Type: text/plain\r\nContent-Length: " . length $text;
    print {$client} "HTTP/1.1 $status X\r\n$head\r\nConnection: close\r\n\r\n$text";
    close $client;
}
"""

STORE = r"""
#include <arpa/inet.h>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

static std::map<std::string, std::string> files;

static std::string reply(int status, const std::string& text) {
    std::ostringstream out;
    out << "HTTP/1.1 " << status << " X\r\nContent-Type: text/plain\r\nContent-Length: "
        << text.size() << "\r\nConnection: close\r\n\r\n" << text;
    return out.str();
}

static std::string answer(const std::string& method, const std::string& path,
                          const std::string& body) {
    if (path == "/files") {
        std::string names;
        for (const auto& each : files) names += each.first + "\n";
        return reply(200, names);
    }
    if (path.rfind("/files/", 0) != 0) return reply(404, "");
    std::string name = path.substr(7);
    bool there = files.count(name) > 0;
    if (method == "PUT") {
        files[name] = body;
        return reply(there ? 200 : 201, "");
    }
    if (!there) return reply(404, "");
    if (method == "DELETE") {
        files.erase(name);
        return "HTTP/1.1 204 X\r\nConnection: close\r\n\r\n";
    }
    return reply(200, files[name]);
}

int main() {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<uint16_t>(std::atoi(std::getenv("PORT"))));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, reinterpret_cast<sockaddr*>(&place), sizeof place) || listen(server, 64))
        return 1;
    while (true) {
        int client = accept(server, nullptr, nullptr);
        std::string data;
        char part[4096];
        size_t head = std::string::npos, length = 0;
        while (true) {
            ssize_t got = read(client, part, sizeof part);
            if (got <= 0) break;
            data.append(part, static_cast<size_t>(got));
            head = data.find("\r\n\r\n");
            if (head == std::string::npos) continue;
            size_t at = data.find("Content-Length: ");
            if (at != std::string::npos && at < head) length = std::stoul(data.substr(at + 16));
            if (data.size() >= head + 4 + length) break;
        }
        if (head != std::string::npos) {
            std::istringstream first(data);
            std::string method, path;
            first >> method >> path;
            std::string text = answer(method, path, data.substr(head + 4, length));
            if (write(client, text.data(), text.size()) < 0) std::cerr << "gone\n";
        }
        close(client);
    }
}
"""

SERVICES_ELSEWHERE: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "polls": (POLLS, (("held.voters[given.Voter] = true", "held.voters[given.Voter] = false"),)),
    "snippets": (SNIPPETS, (("delete(kept, id)", "_ = id"), (' || given.Text == ""', ""))),
    "lengths": (LENGTHS, (("Some(0.3048)", "Some(0.305)"),)),
    "hits": (
        HITS,
        (("$hits{$b} <=> $hits{$a}", "$hits{$a} <=> $hits{$b}"), ("A-Za-z0-9-", "\\w.-")),
    ),
    "store": (STORE, (("there ? 200 : 201", "201"),)),
}
