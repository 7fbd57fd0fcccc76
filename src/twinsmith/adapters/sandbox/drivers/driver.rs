//! Answers calls of a program's functions over two pipes.
//!
//! A frame is its length in four bytes, then JSON; see languages/language.py. The glue that is
//! generated for a program turns arguments into Rust's values with `FromJson` and results back
//! with `ToJson`.

use std::any::Any;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::{Debug, Display};
use std::fs::File;
use std::hash::Hash;
use std::io::{Read, Write};
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// A value of JSON; a number is kept as it was written.
#[derive(Clone)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// What a function that did not return has to say.
pub struct Raised {
    pub kind: &'static str,
    pub message: String,
}

/// A function of the program: arguments in, the value and the arguments after the call out.
pub type Code = fn(&[Json]) -> Result<(Json, Vec<Json>), Raised>;

static PANIC: Mutex<(String, String)> = Mutex::new((String::new(), String::new()));
const DEEPEST: usize = 1000;

/// Names the functions, then answers until there are no more requests.
pub fn serve(functions: &[(&str, Code)]) {
    let mut ends = std::env::args().rev().map(|text| text.parse::<i32>().expect("a pipe's number"));
    let (replies, requests) = (ends.next().unwrap(), ends.next().unwrap());
    // SAFETY: whoever started this process opened both pipes for it alone.
    let (mut replies, mut requests) =
        unsafe { (File::from_raw_fd(replies), File::from_raw_fd(requests)) };
    set_hook(Box::new(|panic| {
        let place = panic.location().filter(|place| place.file().ends_with("solution.rs"));
        let line = place.map_or(String::new(), |place| format!(" (line {})", place.line()));
        *PANIC.lock().unwrap_or_else(|lock| lock.into_inner()) = (words(panic.payload()), line);
    }));
    let names = functions.iter().map(|(name, _)| Json::Text(name.to_string())).collect();
    send(&mut replies, object(vec![("functions", Json::Array(names))]));
    while let Some(body) = receive(&mut requests) {
        let reply = answer(functions, &body);
        let _ = std::io::stdout().flush();
        send(&mut replies, reply);
    }
}

fn words(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text.to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_string(),
    }
}

fn receive(requests: &mut File) -> Option<String> {
    let mut head = [0; 4];
    requests.read_exact(&mut head).ok()?;
    let mut body = vec![0; u32::from_be_bytes(head) as usize];
    requests.read_exact(&mut body).ok()?;
    Some(String::from_utf8_lossy(&body).into_owned())
}

fn send(replies: &mut File, message: Json) {
    let mut body = String::new();
    message.write(&mut body);
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(body.as_bytes());
    if replies.write_all(&frame).is_err() {
        std::process::exit(1);
    }
}

fn object(fields: Vec<(&str, Json)>) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

fn raised(kind: &str, message: String, place: String) -> Json {
    object(vec![
        ("raised", Json::Text(kind.to_string())),
        ("message", Json::Text(message)),
        ("where", Json::Text(place)),
    ])
}

fn answer(functions: &[(&str, Code)], body: &str) -> Json {
    let request = Reader { text: body.as_bytes(), at: 0 }.whole();
    let (name, arguments) = match request
        .as_ref()
        .map(|request| (request.field("call"), request.field("args")))
    {
        Some((Some(Json::Text(name)), Some(Json::Array(arguments)))) => (name, arguments),
        _ => return raised("ValueError", "the request cannot be read".to_string(), String::new()),
    };
    let code = match functions.iter().find(|(own, _)| own == name) {
        Some((_, code)) => code,
        None => return raised("NameError", format!("no function {name}"), String::new()),
    };
    match catch_unwind(AssertUnwindSafe(|| code(arguments))) {
        Ok(Ok((value, after))) => object(vec![("value", value), ("args", Json::Array(after))]),
        Ok(Err(problem)) => raised(problem.kind, problem.message, String::new()),
        Err(_) => {
            let (message, place) = PANIC.lock().unwrap_or_else(|lock| lock.into_inner()).clone();
            raised("panic", message, place)
        }
    }
}

/// The number of arguments is as it should be, or not.
pub fn count(arguments: &[Json], wanted: usize) -> Result<(), Raised> {
    if arguments.len() == wanted {
        return Ok(());
    }
    let message = format!("takes {wanted} arguments, not {}", arguments.len());
    Err(Raised { kind: "TypeError", message })
}

/// One argument as the function wants it.
pub fn take<T: FromJson>(arguments: &[Json], index: usize) -> Result<T, Raised> {
    T::from_json(&arguments[index]).map_err(|problem| Raised {
        kind: "TypeError",
        message: format!("argument {}: {problem}", index + 1),
    })
}

/// An error's text: as it shows itself, or else as it is debugged, or else without words.
pub struct Failure<'a, E>(pub &'a E);

pub trait Shown {
    fn raised(&self) -> Raised;
}
pub trait Debugged {
    fn raised(&self) -> Raised;
}
pub trait Mute {
    fn raised(&self) -> Raised;
}
impl<E: Display> Shown for &&Failure<'_, E> {
    fn raised(&self) -> Raised {
        Raised { kind: "Err", message: self.0.to_string() }
    }
}
impl<E: Debug> Debugged for &Failure<'_, E> {
    fn raised(&self) -> Raised {
        Raised { kind: "Err", message: format!("{:?}", self.0) }
    }
}
impl<E> Mute for Failure<'_, E> {
    fn raised(&self) -> Raised {
        Raised { kind: "Err", message: std::any::type_name::<E>().to_string() }
    }
}

impl Json {
    fn field(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(own, _)| own == name).map(|(_, v)| v),
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::Text(text) => quote(text, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (i, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    quote(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\0'..='\x1f' => out.push_str(&format!("\\u{:04x}", letter as u32)),
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// JSON that is being read, with NaN and Infinity as Python writes them.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn whole(mut self) -> Option<Json> {
        let value = self.value(0)?;
        self.peek().is_none().then_some(value)
    }

    /// The next byte that is not a space.
    fn peek(&mut self) -> Option<u8> {
        while *self.text.get(self.at)? <= b' ' {
            self.at += 1;
        }
        Some(self.text[self.at])
    }

    fn take(&mut self, letter: u8) -> bool {
        let there = self.peek() == Some(letter);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            b'"' => self.string().map(Json::Text),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Json> {
        let rest = &self.text[self.at..];
        let size = rest.iter().position(|c| b",]} \t\r\n".contains(c)).unwrap_or(rest.len());
        self.at += size;
        match std::str::from_utf8(&rest[..size]).ok()? {
            "null" => Some(Json::Null),
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            number => number.parse::<f64>().ok().map(|_| Json::Number(number.to_string())),
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        let mut items = vec![];
        self.at += 1;
        if self.take(b']') {
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Some(Json::Array(items));
            }
            self.take(b',').then_some(())?;
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut fields = vec![];
        self.at += 1;
        if self.take(b'}') {
            return Some(Json::Object(fields));
        }
        loop {
            (self.peek()? == b'"').then_some(())?;
            let name = self.string()?;
            self.take(b':').then_some(())?;
            fields.push((name, self.value(depth + 1)?));
            if self.take(b'}') {
                return Some(Json::Object(fields));
            }
            self.take(b',').then_some(())?;
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut out = vec![];
        loop {
            self.at += 1;
            match *self.text.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    match *self.text.get(self.at)? {
                        b'u' => {
                            let letter = self.escape()?;
                            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        b'b' => out.push(8),
                        b'f' => out.push(12),
                        b'n' => out.push(b'\n'),
                        b'r' => out.push(b'\r'),
                        b't' => out.push(b'\t'),
                        other => out.push(other),
                    }
                }
                letter => out.push(letter),
            }
        }
        self.at += 1;
        String::from_utf8(out).ok()
    }

    /// The four digits after \u, and the second half of a pair if there is one.
    fn escape(&mut self) -> Option<char> {
        let first = self.digits(self.at + 1)?;
        self.at += 4;
        if self.text[self.at + 1..].starts_with(b"\\u") {
            let second = self.digits(self.at + 3)?;
            if let Some(Ok(letter)) = char::decode_utf16([first, second]).next() {
                self.at += if letter as u32 > 0xffff { 6 } else { 0 };
                return Some(letter);
            }
        }
        Some(char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn digits(&self, from: usize) -> Option<u16> {
        let digits = std::str::from_utf8(self.text.get(from..from + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// A value out of JSON; the error says what is wrong.
pub trait FromJson: Sized {
    fn from_json(json: &Json) -> Result<Self, String>;
}

/// A value as JSON.
pub trait ToJson {
    fn to_json(&self) -> Json;
}

fn wrong<T>(wanted: &str, json: &Json) -> Result<T, String> {
    let mut text = String::new();
    json.write(&mut text);
    let short: String = text.chars().take(80).collect();
    Err(format!("{wanted} is wanted, not {short}"))
}

macro_rules! whole_numbers {
    ($($t:ty)*) => {$(
        impl FromJson for $t {
            fn from_json(json: &Json) -> Result<Self, String> {
                let text = match json {
                    Json::Number(text) => text,
                    _ => return wrong(stringify!($t), json),
                };
                if let Ok(value) = text.parse() {
                    return Ok(value);
                }
                match text.parse::<f64>() {
                    Ok(float) if text.contains(['.', 'e', 'E']) && float.fract() == 0.0 => {
                        format!("{float:.0}").parse().or_else(|_| wrong(stringify!($t), json))
                    }
                    _ => wrong(stringify!($t), json),
                }
            }
        }
        impl ToJson for $t {
            fn to_json(&self) -> Json {
                Json::Number(self.to_string())
            }
        }
    )*};
}
whole_numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! floating_numbers {
    ($($t:ty)*) => {$(
        impl FromJson for $t {
            fn from_json(json: &Json) -> Result<Self, String> {
                match json {
                    Json::Number(text) => text.parse().or_else(|_| wrong(stringify!($t), json)),
                    _ => wrong(stringify!($t), json),
                }
            }
        }
        impl ToJson for $t {
            fn to_json(&self) -> Json {
                Json::Number(match *self {
                    value if value == <$t>::INFINITY => "Infinity".to_string(),
                    value if value == <$t>::NEG_INFINITY => "-Infinity".to_string(),
                    value if value.is_nan() => "NaN".to_string(),
                    value => format!("{value:?}"),
                })
            }
        }
    )*};
}
floating_numbers!(f32 f64);

impl FromJson for bool {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json {
            Json::Bool(value) => Ok(*value),
            _ => wrong("bool", json),
        }
    }
}
impl ToJson for bool {
    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }
}

impl FromJson for String {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json {
            Json::Text(text) => Ok(text.clone()),
            _ => wrong("String", json),
        }
    }
}
impl ToJson for String {
    fn to_json(&self) -> Json {
        Json::Text(self.clone())
    }
}
impl ToJson for str {
    fn to_json(&self) -> Json {
        Json::Text(self.to_string())
    }
}

impl FromJson for char {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json {
            Json::Text(text) if text.chars().count() == 1 => Ok(text.chars().next().unwrap()),
            _ => wrong("char", json),
        }
    }
}
impl ToJson for char {
    fn to_json(&self) -> Json {
        Json::Text(self.to_string())
    }
}

impl FromJson for () {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json {
            Json::Null => Ok(()),
            _ => wrong("()", json),
        }
    }
}
impl ToJson for () {
    fn to_json(&self) -> Json {
        Json::Null
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: &Json) -> Result<Self, String> {
        match json {
            Json::Null => Ok(None),
            _ => T::from_json(json).map(Some),
        }
    }
}
impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::to_json)
    }
}

// A borrowed argument is never given back: the process is as short-lived as its probe.
impl FromJson for &'static str {
    fn from_json(json: &Json) -> Result<Self, String> {
        String::from_json(json).map(|text| &*Box::leak(text.into_boxed_str()))
    }
}
impl<T: FromJson> FromJson for &'static [T] {
    fn from_json(json: &Json) -> Result<Self, String> {
        Vec::from_json(json).map(|items| &*items.leak())
    }
}
impl<T: FromJson> FromJson for &'static T {
    fn from_json(json: &Json) -> Result<Self, String> {
        T::from_json(json).map(|value| &*Box::leak(Box::new(value)))
    }
}
impl<T: ToJson + ?Sized> ToJson for &T {
    fn to_json(&self) -> Json {
        (**self).to_json()
    }
}
impl<T: ToJson + ?Sized> ToJson for &mut T {
    fn to_json(&self) -> Json {
        (**self).to_json()
    }
}

macro_rules! pointers {
    ($($p:ident)*) => {$(
        impl<T: FromJson> FromJson for $p<T> {
            fn from_json(json: &Json) -> Result<Self, String> {
                T::from_json(json).map($p::new)
            }
        }
        impl<T: ToJson + ?Sized> ToJson for $p<T> {
            fn to_json(&self) -> Json {
                (**self).to_json()
            }
        }
    )*};
}
pointers!(Box Rc Arc);

fn items<T: FromJson, C: FromIterator<T>>(json: &Json) -> Result<C, String> {
    match json {
        Json::Array(items) => items.iter().map(T::from_json).collect(),
        _ => wrong("an array", json),
    }
}

impl<T: ToJson> ToJson for [T] {
    fn to_json(&self) -> Json {
        Json::Array(self.iter().map(T::to_json).collect())
    }
}
impl<T: FromJson, const N: usize> FromJson for [T; N] {
    fn from_json(json: &Json) -> Result<Self, String> {
        let all: Vec<T> = items(json)?;
        all.try_into().or_else(|_| wrong(&format!("an array of {N}"), json))
    }
}
impl<T: ToJson, const N: usize> ToJson for [T; N] {
    fn to_json(&self) -> Json {
        self[..].to_json()
    }
}

macro_rules! collections {
    ($($c:ident<T $(: $b:ident $(+ $more:ident)*)?> $sorted:literal)*) => {$(
        impl<T: FromJson $(+ $b $(+ $more)*)?> FromJson for $c<T> {
            fn from_json(json: &Json) -> Result<Self, String> {
                items(json)
            }
        }
        impl<T: ToJson> ToJson for $c<T> {
            fn to_json(&self) -> Json {
                let mut items: Vec<Json> = self.iter().map(T::to_json).collect();
                if $sorted {
                    items.sort_by(order);
                }
                Json::Array(items)
            }
        }
    )*};
}
// What has no order of its own comes out the same in every run.
collections!(Vec<T> false VecDeque<T> false HashSet<T: Eq + Hash> true BTreeSet<T: Ord> false);

fn order(one: &Json, other: &Json) -> Ordering {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one.parse::<f64>().unwrap_or(0.0).total_cmp(&other.parse().unwrap_or(0.0))
        }
        (Json::Array(one), Json::Array(other)) => {
            let pairs = one.iter().zip(other).map(|(one, other)| order(one, other));
            pairs.fold(Ordering::Equal, Ordering::then).then(one.len().cmp(&other.len()))
        }
        _ => name(one).cmp(&name(other)),
    }
}

/// A key of JSON is text; a number or a truth value is read out of it.
fn key<K: FromJson>(name: &str) -> Result<K, String> {
    K::from_json(&Json::Text(name.to_string())).or_else(|problem| match name {
        "true" | "false" => K::from_json(&Json::Bool(name == "true")),
        _ if name.parse::<f64>().is_ok() => K::from_json(&Json::Number(name.to_string())),
        _ => Err(problem),
    })
}

fn name(key: &Json) -> String {
    match key {
        Json::Text(text) => text.clone(),
        other => {
            let mut text = String::new();
            other.write(&mut text);
            text
        }
    }
}

macro_rules! maps {
    ($($c:ident<K: $b:ident $(+ $more:ident)*>)*) => {$(
        impl<K: FromJson + $b $(+ $more)*, V: FromJson> FromJson for $c<K, V> {
            fn from_json(json: &Json) -> Result<Self, String> {
                match json {
                    Json::Object(fields) => {
                        fields.iter().map(|(k, v)| Ok((key(k)?, V::from_json(v)?))).collect()
                    }
                    _ => wrong("an object", json),
                }
            }
        }
        impl<K: ToJson, V: ToJson> ToJson for $c<K, V> {
            fn to_json(&self) -> Json {
                Json::Object(self.iter().map(|(k, v)| (name(&k.to_json()), v.to_json())).collect())
            }
        }
    )*};
}
maps!(HashMap<K: Eq + Hash> BTreeMap<K: Ord>);

macro_rules! tuples {
    ($($n:literal: $($t:ident $i:tt),+;)*) => {$(
        impl<$($t: FromJson),+> FromJson for ($($t,)+) {
            fn from_json(json: &Json) -> Result<Self, String> {
                match json {
                    Json::Array(items) if items.len() == $n => Ok(($($t::from_json(&items[$i])?,)+)),
                    _ => wrong(concat!("an array of ", $n), json),
                }
            }
        }
        impl<$($t: ToJson),+> ToJson for ($($t,)+) {
            fn to_json(&self) -> Json {
                Json::Array(vec![$(self.$i.to_json()),+])
            }
        }
    )*};
}
tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
}
