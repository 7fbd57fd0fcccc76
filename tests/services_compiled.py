"""Small services in Perl, Rust, C and C++ that do everything right, file by file.

Each speaks HTTP with its language's own sockets; a value of JSON that it need not understand is
kept as it was written.
"""

NOTES_IN_PERL = {
    "solution.pl": r"""
use strict;
use warnings;
use lib '.';
use IO::Socket::INET;
use JSON::PP;
use Notes;

my $json = JSON::PP->new->utf8;

sub failed { my ($status, $what) = @_; return ($status, {error => $what}) }

sub received {
    my ($client) = @_;
    my ($method, $path) = (<$client> // '') =~ m{^([A-Z]+) (\S+) HTTP/} or return;
    my $length = 0;
    while (defined(my $line = <$client>)) {
        last if $line =~ /^\r?\n$/;
        $length = $1 if $line =~ /^Content-Length:\s*(\d+)/i;
    }
    return ($method, $path) if $length > 1 << 20;
    read($client, my $body, $length);
    return ($method, $path, $body);
}

sub answer {
    my ($method, $path, $body) = @_;
    return failed(413, 'too large') unless defined $body;
    if ($path eq '/health') {
        return $method eq 'GET' ? (200, {status => 'ok'}) : failed(405, 'no such method');
    }
    my ($id) = $path =~ m{^/notes/(\d{1,9})$};
    return failed(404, 'not there') unless $path eq '/notes' or $id && Notes::found($id);
    return (200, $id ? Notes::found($id) : Notes::all()) if $method eq 'GET';
    return (204, Notes::removed($id)) if $method eq 'DELETE' and $id;
    return failed(405, 'no such method') unless $method eq ($id ? 'PUT' : 'POST');
    my $given = eval { $json->decode($body) };
    my @texts = ref $given eq 'HASH' ? @{$given}{qw(title text)} : ();
    if (2 != grep { defined $_ and not ref $_ and length $_ } @texts) {
        return failed(400, 'title and text are needed');
    }
    return ($id ? 200 : 201, Notes::kept($id, @texts));
}

$SIG{PIPE} = 'IGNORE';
my $server = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT}, Listen => 64, ReuseAddr => 1,
) or die "cannot listen: $@";
while (my $client = $server->accept) {
    my @asked = received($client) or next;
    my ($status, $value) = answer(@asked);
    my $text = defined $value ? $json->encode($value) : '';
    my $head = "Content-Type: application/json\r\nContent-Length: " . length $text;
    print {$client} "HTTP/1.1 $status \r\n$head\r\nConnection: close\r\n\r\n$text";
}
""",
    "Notes.pm": r"""
package Notes;
use strict;
use warnings;

my %notes;
my $last = 0;

sub found { my ($id) = @_; return $notes{$id} }

sub all { return [map { $notes{$_} } sort { $a <=> $b } keys %notes] }

sub removed { my ($id) = @_; delete $notes{$id}; return undef }

sub kept {
    my ($id, $title, $text) = @_;
    $id ||= ++$last;
    return $notes{$id} = {id => $id + 0, title => $title, text => $text};
}

1;
""",
}

READINGS_IN_RUST = {
    "solution.rs": r"""
mod store;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use store::Store;

const MOST: u64 = 1 << 20;

fn failed(status: u16, what: &str) -> (u16, String) {
    (status, format!("{{\"error\": \"{what}\"}}"))
}

fn answer(method: &str, path: &str, body: &str, store: &mut Store) -> (u16, String) {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match (method, parts.as_slice()) {
        ("GET", ["health"]) => (200, r#"{"status": "ok"}"#.to_string()),
        ("GET", ["readings"]) => (200, store.all()),
        ("POST", ["readings"]) => match store.add(body) {
            Some(made) => (201, made),
            None => failed(400, "sensor and value are needed"),
        },
        ("GET", ["readings", id]) => match id.parse().ok().and_then(|id| store.get(id)) {
            Some(found) => (200, found),
            None => failed(404, "no such reading"),
        },
        (_, ["health"] | ["readings"] | ["readings", _]) => failed(405, "no such method"),
        _ => failed(404, "no such path"),
    }
}

fn serve(mut stream: TcpStream, store: &Mutex<Store>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut asked, mut length) = (String::new(), 0_u64);
    reader.read_line(&mut asked)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; usize::try_from(length.min(MOST)).unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let mut words = asked.split_whitespace();
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let (status, text) = if length > MOST {
        failed(413, "too large")
    } else {
        answer(method, path, &String::from_utf8_lossy(&body), &mut store.lock().unwrap())
    };
    let head = format!("Content-Type: application/json\r\nContent-Length: {}", text.len());
    write!(stream, "HTTP/1.1 {status} \r\n{head}\r\nConnection: close\r\n\r\n{text}")
}

fn main() {
    let port = std::env::var("PORT").expect("PORT names a port");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("the port is free");
    let store = Arc::new(Mutex::new(Store::default()));
    for stream in listener.incoming().flatten() {
        let store = Arc::clone(&store);
        std::thread::spawn(move || serve(stream, &store));
    }
}
""",
    "store.rs": r"""
use std::collections::HashMap;

#[derive(Default)]
pub struct Store {
    readings: Vec<String>,
}

impl Store {
    pub fn add(&mut self, body: &str) -> Option<String> {
        let given = members(body)?;
        let sensor = given.get("\"sensor\"")?;
        let value: i64 = given.get("\"value\"")?.parse().ok()?;
        if !sensor.starts_with('"') || sensor.len() < 3 {
            return None;
        }
        let id = self.readings.len() + 1;
        self.readings.push(format!(r#"{{"id": {id}, "sensor": {sensor}, "value": {value}}}"#));
        self.get(id)
    }

    pub fn get(&self, id: usize) -> Option<String> {
        self.readings.get(id.checked_sub(1)?).cloned()
    }

    pub fn all(&self) -> String {
        format!("[{}]", self.readings.join(", "))
    }
}

/// Names and values of a flat object, as they were written; None for anything else.
fn members(text: &str) -> Option<HashMap<&str, &str>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut found = HashMap::new();
    while !rest.is_empty() {
        let (name, after) = literal(rest)?;
        let (value, after) = literal(after.trim_start().strip_prefix(':')?.trim_start())?;
        found.insert(name, value);
        rest = after.trim_start();
        if !rest.is_empty() {
            rest = rest.strip_prefix(',')?.trim_start();
        }
    }
    Some(found)
}

fn literal(text: &str) -> Option<(&str, &str)> {
    let ends = |letter: char| letter.is_whitespace() || ",:[{".contains(letter);
    let mut end = text.find(ends).unwrap_or(text.len());
    if text.starts_with('"') {
        let mut escaped = false;
        let closes = |&(_, letter): &(usize, char)| {
            let closing = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            closing
        };
        end = text.char_indices().skip(1).find(closes)?.0 + 1;
    }
    (end > 0).then(|| text.split_at(end))
}
""",
}

LINKS_IN_C = {
    "solution.c": r"""
#define _GNU_SOURCE
#include "links.h"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char text[(1 << 20) + 1];

static char *received(int client) {
    size_t got = 0, want = 0;
    char *body = NULL;
    while (!body || got < want) {
        ssize_t more = recv(client, text + got, sizeof text - 1 - got, 0);
        if (more <= 0) return NULL;
        text[got += more] = '\0';
        if (!body && (body = strstr(text, "\r\n\r\n"))) {
            char *length = strcasestr(text, "\r\nContent-Length:");
            want = length && length < body ? strtoul(length + 17, NULL, 10) : 0;
            want += (body += 4) - text;
        }
    }
    return body;
}

static void answer(int client, int status, const char *head, const char *body) {
    dprintf(client, "HTTP/1.1 %d \r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n"
            "Connection: close\r\n\r\n%s", status, head, strlen(body), body);
}

static void serve(int client) {
    char method[10], path[100], url[2001], head[2100], quote = 0, brace = 0;
    char *body = received(client);
    if (!body) return answer(client, 413, "", "{\"error\": \"too large\"}");
    if (sscanf(text, "%9s %99s", method, path) != 2) return;
    if (strcmp(path, "/shorten") == 0) {
        if (strcmp(method, "POST")) return answer(client, 405, "", "{\"error\": \"only POST\"}");
        sscanf(body, " { \"url\" : \"%2000[]!#-[^-~]%c %c", url, &quote, &brace);
        int whole = quote == '"' && brace == '}';
        if (!whole || (strncmp(url, "http://", 7) && strncmp(url, "https://", 8)))
            return answer(client, 400, "", "{\"error\": \"url is needed\"}");
        snprintf(head, sizeof head, "{\"code\": \"c%zu\"}", keep(url));
        return answer(client, 201, "", head);
    }
    if (strcmp(method, "GET")) return answer(client, 405, "", "{\"error\": \"only GET\"}");
    if (strcmp(path, "/health") == 0) return answer(client, 200, "", "{\"status\": \"ok\"}");
    const char *found = path[1] == 'c' ? find(strtoul(path + 2, NULL, 10)) : NULL;
    if (!found) return answer(client, 404, "", "{\"error\": \"no such link\"}");
    snprintf(head, sizeof head, "Location: %s\r\n", found);
    answer(client, 302, head, "{}");
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    int server = socket(AF_INET, SOCK_STREAM, 0), client, yes = 1;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT")))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (struct sockaddr *)&place, sizeof place) || listen(server, 64)) return 1;
    while ((client = accept(server, NULL, NULL)) >= 0) {
        serve(client);
        close(client);
    }
    return 1;
}
""",
    "links.h": r"""
#ifndef LINKS_H
#define LINKS_H
#include <stddef.h>

size_t keep(const char *url);
const char *find(size_t number);
#endif
""",
    "links.c": r"""
#define _POSIX_C_SOURCE 200809L
#include "links.h"
#include <stdlib.h>
#include <string.h>

static char **links;
static size_t count;

size_t keep(const char *url) {
    links = realloc(links, (count + 1) * sizeof *links);
    links[count] = strdup(url);
    return ++count;
}

const char *find(size_t number) {
    return number > 0 && number <= count ? links[number - 1] : NULL;
}
""",
}

LINKS_IN_CPP = {
    "solution.cpp": r"""
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

using std::string;
using Reply = std::pair<int, string>;  // with 302, where it leads

constexpr size_t MOST = 1 << 20;
std::map<string, string> links;
std::mutex guard;

Reply failed(int status, const string &what) { return {status, "{\"error\": \"" + what + "\"}"}; }

Reply shortened(const string &body) {
    char text[2001] = "", quote = 0, brace = 0;
    sscanf(body.c_str(), " { \"url\" : \"%2000[]!#-[^-~]%c %c", text, &quote, &brace);
    string url = quote == '"' && brace == '}' ? text : "";
    if (!url.starts_with("http://") && !url.starts_with("https://"))
        return failed(400, "url is needed");
    string code = "c" + std::to_string(links.size() + 1);
    links["/" + code] = url;
    return {201, "{\"code\": \"" + code + "\"}"};
}

Reply answer(const string &method, const string &path, const string &body) {
    std::lock_guard<std::mutex> held(guard);
    if (method != (path == "/shorten" ? "POST" : "GET")) return failed(405, "no such method");
    if (path == "/shorten") return shortened(body);
    if (path == "/health") return {200, "{\"status\": \"ok\"}"};
    auto found = links.find(path);
    return found == links.end() ? failed(404, "no such link") : Reply{302, found->second};
}

void serve(int client) {
    string text, method, path;
    size_t head = string::npos, want = 0;
    for (char part[8192]; head == string::npos || text.size() < head + want;) {
        ssize_t more = text.size() > 2 * MOST ? 0 : recv(client, part, sizeof part, 0);
        if (more <= 0) break;
        text.append(part, more);
        if (head == string::npos && (head = text.find("\r\n\r\n")) != string::npos) {
            head += 4;
            size_t length = text.find("Content-Length: ");
            want = length < head ? std::strtoul(&text[length + 16], nullptr, 10) : 0;
        }
    }
    std::istringstream(text) >> method >> path;
    bool whole = head != string::npos && want <= MOST;
    auto [status, body] = whole ? answer(method, path, text.substr(head)) : failed(413, "long");
    std::ostringstream out;
    out << "HTTP/1.1 " << status << " \r\nContent-Type: application/json\r\nConnection: close\r\n";
    if (status == 302) out << "Location: " << std::exchange(body, "{}") << "\r\n";
    out << "Content-Length: " << body.size() << "\r\n\r\n" << body;
    string all = out.str();
    send(client, all.data(), all.size(), MSG_NOSIGNAL);
    close(client);
}

int main() {
    int server = socket(AF_INET, SOCK_STREAM, 0), client, yes = 1;
    sockaddr_in place{.sin_family = AF_INET, .sin_port = htons(std::atoi(std::getenv("PORT")))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    auto address = reinterpret_cast<sockaddr *>(&place);
    if (bind(server, address, sizeof place) || listen(server, 64)) return 1;
    while ((client = accept(server, nullptr, nullptr)) >= 0) std::thread(serve, client).detach();
    return 1;
}
""",
}
