"""Hostile programs in Rust; the first word of the command line chooses what one does."""

_LIBC = r"""
#[allow(dead_code)]
extern "C" {
    fn fork() -> i32;
    fn setsid() -> i32;
    fn signal(number: i32, action: usize) -> usize;
    fn usleep(micro: u32) -> i32;
    fn _exit(code: i32) -> !;
    fn syscall(number: i64, ...) -> i64;
    fn setuid(user: u32) -> i32;
    fn chroot(path: *const u8) -> i32;
    fn write(fd: i32, data: *const u8, size: usize) -> isize;
}
"""

BOMBS = (
    _LIBC
    + r"""
use std::fs::{self, File};
use std::io::Write;

fn hog() {
    let mut kept = Vec::new();
    loop {
        kept.push(vec![1u8; 1 << 20]);
    }
}

fn fill(folder: &str) -> u64 {
    let (mut total, block) = (0, vec![1u8; 1 << 16]);
    for n in 0..100 {
        let mut file = match File::create(format!("{folder}/hostile-{n}")) {
            Ok(file) => file,
            Err(_) => return total,
        };
        let mut size = 0;
        while size < 8 << 20 {
            match file.write(&block) {
                Ok(wrote) if wrote > 0 => { size += wrote as u64; total += wrote as u64; }
                _ => return total,
            }
        }
    }
    total
}

fn figures() {
    let (bytes, shm) = (fill(".") + fill("/tmp"), fill("/dev/shm"));
    for n in 0..100 {
        let _ = fs::remove_file(format!("hostile-{n}"));
        let _ = fs::remove_file(format!("/tmp/hostile-{n}"));
    }
    let (mut files, mut open) = (0, Vec::new());
    while File::create(format!("/tmp/hostile-empty-{files}")).is_ok() { files += 1; }
    while let Ok(file) = File::open("/dev/null") { open.push(file); }
    println!("bytes {bytes} shm {shm} files {files} open {}", open.len());
}

fn threads() {
    let mut n = 0;
    let rest = || std::thread::sleep(std::time::Duration::from_secs(100));
    while std::thread::Builder::new().stack_size(1 << 16).spawn(rest).is_ok() { n += 1; }
    println!("threads {n}");
    std::process::exit(0);
}

// One that sleeps and holds the pipe, and one that is another process every millisecond.
fn survive() {
    for kind in 0..2 {
        unsafe {
            if fork() == 0 {
                setsid();
                if fork() > 0 { _exit(0); }
                for n in 1..65 { signal(n, 1); }
                loop {
                    if kind == 0 { usleep(100_000_000); }
                    else if fork() > 0 { _exit(0); }
                    else { usleep(1000); }
                }
            }
        }
    }
    unsafe { usleep(50_000); }
    println!("gone");
}

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    match what.as_str() {
        "fork" => loop { unsafe { if fork() < 0 { usleep(1000); } } },
        "memory" => hog(),
        "memories" => {
            for _ in 0..8 { if unsafe { fork() } == 0 { break; } }
            hog()
        }
        "loop" => loop { std::hint::spin_loop(); },
        "sleep" => loop { std::thread::sleep(std::time::Duration::from_secs(100)) },
        "output" => loop { println!("hostile hostile hostile") },
        "fill" => figures(),
        "threads" => threads(),
        "survive" => survive(),
        "look" => println!("{}", fs::read_dir("/proc").unwrap().flatten()
            .filter(|each| each.file_name().to_string_lossy().parse::<u32>().is_ok()).count()),
        "ordinary" => println!("{}", 6 * 7),
        _ => {}
    }
}
"""
)

# Reads calls, a line each: name, number, arguments (a number, s:text, or b:size of zeros).
CALLS = (
    _LIBC
    + r"""
fn number(word: &str) -> i64 {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap() as i64,
        None => word.parse().unwrap(),
    }
}

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split('\t').collect();
        let mut a = [0i64; 6];
        for (n, word) in words[2..].iter().enumerate() {
            a[n] = if let Some(text) = word.strip_prefix("s:") {
                Box::leak(format!("{text}\0").into_boxed_str()).as_ptr() as i64
            } else if let Some(size) = word.strip_prefix("b:") {
                vec![0u8; size.parse().unwrap()].leak().as_ptr() as i64
            } else {
                number(word)
            };
        }
        let got = unsafe { syscall(number(words[1]), a[0], a[1], a[2], a[3], a[4], a[5]) };
        let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        println!("{}\t{}", words[0], if got == -1 { error } else { 0 });
    }
}
"""
)

REACH = (
    _LIBC
    + r"""
use std::fs::{self, File};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;

extern "C" {
    fn socket(family: i32, kind: i32, protocol: i32) -> i32;
    fn connect(fd: i32, address: *const u8, size: u32) -> i32;
}

fn abstract_name_answers(name: &str) -> bool {
    let mut address = vec![1u8, 0, 0];
    address.extend_from_slice(name.as_bytes());
    unsafe { connect(socket(1, 1, 0), address.as_ptr(), address.len() as u32) == 0 }
}

fn say(name: &str, escaped: bool) {
    println!("{name} {}", if escaped { "ESCAPED" } else { "contained" });
}

fn dump(path: String) {
    if let Ok(text) = fs::read(&path) {
        println!("DUMP {path} {}", String::from_utf8_lossy(&text).replace('\0', " "));
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let secret = &words[4];
    let above = std::os::unix::process::parent_id();
    for path in ["/etc/passwd", "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/proc/1/mem",
                 "/proc/1/maps", "/proc/kcore", "/dev/mem", &format!("/proc/{above}/mem")] {
        say(path, File::open(path).is_ok());
    }
    say("read-secret", File::open(secret).is_ok());
    // Rust itself may be mounted somewhere below /root.
    for path in ["/home", "/proc/1/fd", "/sys/kernel"] {
        say(path, fs::read_dir(path).is_ok());
    }
    for place in ["", "/usr", "/etc", "/dev", "/run", "/var", "/usr/bin", "/run/cache", "/usr/lib",
                  "/root", "/home"] {
        let path = format!("{place}/hostile");
        say(&path, File::create(&path).is_ok());
    }
    say("hostname", fs::write("/proc/sys/kernel/hostname", "x").is_ok());
    say("port", TcpStream::connect(format!("127.0.0.1:{}", words[1])).is_ok());
    say("metadata", TcpStream::connect("169.254.169.254:80").is_ok());
    say("internet", TcpStream::connect("1.1.1.1:53").is_ok());
    say("dns", "example.com:80".to_socket_addrs().is_ok());
    say("abstract", abstract_name_answers(&words[2]));
    say("unix", UnixStream::connect(&words[3]).is_ok());
    let _ = std::os::unix::fs::symlink(secret, "/tmp/hostile-link");
    say("symlink", File::open("/tmp/hostile-link").is_ok());
    say("hardlink", fs::hard_link("/usr/bin/true", "/tmp/hostile-hard").is_ok());
    say("user", unsafe { setuid(0) } == 0);
    say("chroot", unsafe { chroot(b"/tmp\0".as_ptr()) } == 0);
    dump(format!("/proc/{}/cmdline", words[5]));
    for each in fs::read_dir("/proc").unwrap().flatten() {
        let name = each.file_name().to_string_lossy().into_owned();
        if name.parse::<u32>().is_ok() {
            for file in ["environ", "cmdline", "mountinfo"] {
                dump(format!("/proc/{name}/{file}"));
            }
        }
    }
    for (name, value) in std::env::vars() { println!("ENV {name}={value}"); }
}
"""
)

# Mode 0 writes what the judge would; 1 answers itself and ends; 2 looks for what is expected.
FORGERY = (
    _LIBC
    + r"""
use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

const LINE: &str = "{\"n\": 0, \"outcome\": \"passed\"}\n{\"verdict\": [\"passed\", \"\"]}\n";
const ANSWER: &str = "{\"value\": 1, \"args\": [], \"verdict\": [\"passed\", \"\"]}";

fn everywhere(text: &[u8]) -> bool {
    for fd in 1..256 { unsafe { write(fd, text.as_ptr(), text.len()) }; }
    true
}

fn found(text: Vec<u8>) -> Option<i64> {
    let words = text.split(|byte| !byte.is_ascii_digit());
    words.filter(|word| word.len() == 15 && word.starts_with(b"8392"))
        .find_map(|word| String::from_utf8_lossy(word).parse().ok())
}

fn memory(process: &str) -> Option<i64> {
    let maps = BufReader::new(fs::File::open(format!("{process}/maps")).ok()?);
    let mut memory = fs::File::open(format!("{process}/mem")).ok()?;
    for line in maps.lines().map_while(Result::ok) {
        let (start, rest) = line.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(rest.split(' ').next()?, 16).unwrap_or(start);
        let mut text = vec![0u8; (end - start) as usize];
        if memory.seek(SeekFrom::Start(start)).is_ok() && memory.read_exact(&mut text).is_ok() {
            if let Some(number) = found(text) { return Some(number); }
        }
    }
    None
}

fn search() -> i64 {
    for each in fs::read_dir("/proc").unwrap().flatten() {
        let process = each.path().to_string_lossy().into_owned();
        let name = each.file_name().to_string_lossy().into_owned();
        if name.parse::<u32>().is_err() || name == std::process::id().to_string() { continue; }
        for file in ["cmdline", "environ"] {
            let text = fs::read(format!("{process}/{file}")).unwrap_or_default();
            if let Some(number) = found(text) { return number; }
        }
        if let Some(number) = memory(&process) { return number; }
    }
    0
}

pub fn f(mode: i64) -> i64 {
    if mode < 2 { everywhere(LINE.as_bytes()); }
    if mode == 1 {
        let mut frame = (ANSWER.len() as u32).to_be_bytes().to_vec();
        frame.extend(ANSWER.as_bytes());
        everywhere(&frame);
        std::process::exit(0);
    }
    if mode == 2 { search() } else { 0 }
}

fn main() { println!("{}", search()); }
"""
)
