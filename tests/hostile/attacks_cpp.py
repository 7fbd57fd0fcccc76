"""Hostile programs in C++; the first word of the command line chooses what one does."""

BOMBS = r"""
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

static void hog() {
    std::vector<char *> kept;
    for (;;) {
        char *block = new char[1 << 20];
        std::memset(block, 1, 1 << 20);
        kept.push_back(block);
    }
}

static long fill(const std::string &folder) {
    static char block[1 << 16];
    long total = 0;
    for (int n = 0; n < 100; n++) {
        int fd = open((folder + "/hostile-" + std::to_string(n)).c_str(), O_CREAT | O_WRONLY, 0600);
        long size = 0, wrote = fd < 0 ? 0 : 1;
        while (wrote > 0 && size < (8 << 20)) {
            wrote = write(fd, block, sizeof block);
            if (wrote > 0) size += wrote;
        }
        total += size;
        if (wrote <= 0) break;
        close(fd);
    }
    return total;
}

static void figures() {
    long bytes = fill(".") + fill("/tmp"), shm = fill("/dev/shm"), files = 0, opened = 0;
    for (const char *folder : {".", "/tmp"}) {
        for (int n = 0; n < 100; n++) {
            std::error_code ignored;
            fs::remove(fs::path(folder) / ("hostile-" + std::to_string(n)), ignored);
        }
    }
    for (; files < 100000; files++) {
        std::string path = "/tmp/hostile-empty-" + std::to_string(files);
        int fd = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
        if (fd < 0) break;
        close(fd);
    }
    while (opened < 100000 && open("/dev/null", O_RDONLY) >= 0) opened++;
    std::printf("bytes %ld shm %ld files %ld open %ld\n", bytes, shm, files, opened);
}

static void threads() {
    int n = 0;
    try {
        for (;; n++) std::thread([] { for (;;) sleep(100); }).detach();
    } catch (const std::system_error &) {
        std::printf("threads %d\n", n);
        std::fflush(stdout);
        _exit(0);
    }
}

// One that sleeps and holds the pipe, and one that is another process every millisecond.
static void survive() {
    for (int kind = 0; kind < 2; kind++) {
        if (fork() == 0) {
            setsid();
            if (fork() > 0) _exit(0);
            for (int n = 1; n < 65; n++) std::signal(n, SIG_IGN);
            for (;;) {
                if (kind == 0) sleep(100);
                else if (fork() > 0) _exit(0);
                else usleep(1000);
            }
        }
    }
    usleep(50000);
    std::puts("gone");
}

int main(int count, char **words) {
    std::string what = count > 1 ? words[1] : "";
    if (what == "fork") for (;;) if (fork() < 0) usleep(1000);
    if (what == "memories") for (int n = 0; n < 8; n++) if (fork() == 0) break;
    if (what.starts_with("memor")) hog();
    if (what == "loop") for (volatile int n = 0;; n = n + 1) {}
    if (what == "sleep") for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    if (what == "output") for (;;) std::puts("hostile hostile hostile");
    if (what == "fill") figures();
    if (what == "threads") threads();
    if (what == "survive") survive();
    if (what == "look") {
        int found = 0;
        for (auto &each : fs::directory_iterator("/proc")) {
            found += std::isdigit(each.path().filename().c_str()[0]) != 0;
        }
        std::printf("%d\n", found);
    }
    if (what == "ordinary") std::printf("%d\n", 6 * 7);
}
"""

# Reads calls, a line each: name, number, arguments (a number, s:text, or b:size of zeros).
CALLS = r"""
#include <cerrno>
#include <iostream>
#include <list>
#include <sstream>
#include <string>
#include <unistd.h>

int main() {
    std::list<std::string> kept;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string name, word;
        long number, given[6] = {};
        std::getline(words, name, '\t');
        words >> number;
        words.ignore();
        for (int n = 0; n < 6 && std::getline(words, word, '\t'); n++) {
            if (word[1] == ':') {
                bool text = word[0] == 's';
                kept.push_back(text ? word.substr(2) : std::string(std::stoul(word.substr(2)), 0));
                given[n] = (long)kept.back().data();
            } else {
                given[n] = std::stol(word, nullptr, 0);
            }
        }
        errno = 0;
        long got = syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
        std::cout << name << '\t' << (got == -1 ? errno : 0) << std::endl;
    }
}
"""

REACH = r"""
#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace fs = std::filesystem;
extern char **environ;

static void say(const std::string &name, bool escaped) {
    std::cout << name << (escaped ? " ESCAPED" : " contained") << std::endl;
}
static bool reaches(const char *host, int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, host, &to.sin_addr);
    return connect(fd, (sockaddr *)&to, sizeof to) == 0;
}
static bool speaks(const std::string &path) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.data(), path.size());
    return connect(fd, (sockaddr *)&to, offsetof(sockaddr_un, sun_path) + path.size()) == 0;
}
static void dump(const fs::path &path) {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    for (char &each : text) if (each < ' ') each = ' ';
    if (!text.empty()) std::cout << "DUMP " << path << ' ' << text << std::endl;
}
template <class Act> static bool can(Act act) {
    try {
        act();
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

int main(int count, char **words) {
    if (count < 6) return 2;
    std::string secret = words[4];
    for (const char *path : {"/etc/passwd", "/etc/shadow", "/root/.bashrc", "/proc/1/environ",
                             "/proc/1/mem", "/proc/1/maps", "/proc/kcore", "/dev/mem"}) {
        say(path, std::ifstream(path).is_open());
    }
    say("read-secret", std::ifstream(secret).is_open());
    for (const char *path : {"/root", "/home", "/proc/1/fd", "/sys/kernel"}) {
        say(path, can([&] { fs::directory_iterator each{path}; }));
    }
    for (const char *place : {"", "/usr", "/etc", "/dev", "/run", "/var", "/usr/bin", "/run/cache",
                              "/usr/lib", "/root", "/home"}) {
        std::string path = std::string(place) + "/hostile";
        say(path, std::ofstream(path).is_open());
    }
    say("hostname", std::ofstream("/proc/sys/kernel/hostname").is_open());
    say("port", reaches("127.0.0.1", std::stoi(words[1])));
    say("metadata", reaches("169.254.169.254", 80));
    say("internet", reaches("1.1.1.1", 53));
    addrinfo *found;
    say("dns", getaddrinfo("example.com", "80", nullptr, &found) == 0);
    say("abstract", speaks(std::string(1, '\0') + words[2]));
    say("unix", speaks(words[3]));
    fs::create_symlink(secret, "/tmp/hostile-link");
    say("symlink", std::ifstream("/tmp/hostile-link").is_open());
    say("hardlink", can([] { fs::create_hard_link("/usr/bin/true", "/tmp/hostile-hard"); }));
    say("user", setuid(0) == 0 || setgid(0) == 0);
    say("chroot", chroot("/tmp") == 0);
    dump(fs::path("/proc") / words[5] / "cmdline");
    for (auto &each : fs::directory_iterator("/proc")) {
        if (!std::isdigit(each.path().filename().c_str()[0])) continue;
        for (const char *name : {"environ", "cmdline", "mountinfo"}) dump(each.path() / name);
    }
    for (char **each = environ; *each; each++) std::cout << "ENV " << *each << std::endl;
}
"""

# Mode 0 writes what the judge would; 1 answers itself and ends; 2 looks for what is expected.
FORGERY = r"""
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <unistd.h>

static const std::string LINE =
    "{\"n\": 0, \"outcome\": \"passed\", \"detail\": \"\"}\n{\"verdict\": [\"passed\", \"\"]}\n";
static const std::string ANSWER =
    "{\"value\": 1, \"args\": [], \"outcome\": \"passed\", \"verdict\": [\"passed\", \"\"]}";

static void everywhere(const std::string &text) {
    for (int fd = 1; fd < 256; fd++) {
        if (write(fd, text.data(), text.size()) < 0) continue;
    }
}

static long found(const std::string &text) {
    for (size_t n = text.find("8392"); n != text.npos; n = text.find("8392", n + 1)) {
        size_t end = text.find_first_not_of("0123456789", n);
        if ((end == text.npos ? text.size() : end) - n == 15) return std::stol(text.substr(n, 15));
    }
    return 0;
}

static long search() {
    long got = 0;
    for (auto &each : std::filesystem::directory_iterator("/proc")) {
        std::string name = each.path().filename();
        if (!std::isdigit(name[0]) || name == std::to_string(getpid())) continue;
        std::ifstream maps(each.path() / "maps"), memory(each.path() / "mem");
        for (const char *file : {"cmdline", "environ"}) {
            std::ifstream one(each.path() / file);
            got = got ? got : found(std::string{std::istreambuf_iterator<char>(one), {}});
        }
        for (std::string line; !got && memory && std::getline(maps, line);) {
            unsigned long start = 0, end = 0;
            std::sscanf(line.c_str(), "%lx-%lx", &start, &end);
            std::string text(end - start, 0);
            memory.seekg(start);
            memory.read(text.data(), text.size());
            memory.clear();
            got = found(text);
        }
    }
    return got;
}

long f(long mode) {
    if (mode < 2) everywhere(LINE);
    if (mode == 1) {
        std::string head = {0, 0, 0, (char)ANSWER.size()};
        everywhere(head + ANSWER);
        _exit(0);
    }
    return mode == 2 ? search() : 0;
}

int main() { std::printf("%ld\n", search()); }
"""
