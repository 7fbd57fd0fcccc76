"""Hostile programs in C; the first word of the command line chooses what one does."""

BOMBS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *volatile kept;

static void hog(void) {
    for (;;) {
        kept = malloc(1 << 20);
        if (kept) memset(kept, 1, 1 << 20);
    }
}

static long fill(const char *folder) {
    static char block[1 << 16];
    long total = 0;
    for (int n = 0; n < 100; n++) {
        char path[200];
        snprintf(path, sizeof path, "%s/hostile-%d", folder, n);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        long wrote = 1, size = 0;
        while (fd >= 0 && size < (8 << 20) && (wrote = write(fd, block, sizeof block)) > 0)
            size += wrote;
        total += size;
        if (fd < 0 || wrote <= 0) break;
        close(fd);
    }
    return total;
}

static void figures(void) {
    long bytes = fill(".") + fill("/tmp"), shm = fill("/dev/shm"), files = 0, opened = 0;
    char path[100];
    for (int n = 0; n < 100; n++) {
        for (int where = 0; where < 2; where++) {
            snprintf(path, sizeof path, "%s/hostile-%d", where ? "/tmp" : ".", n);
            unlink(path);
        }
    }
    for (; files < 100000; files++) {
        snprintf(path, sizeof path, "/tmp/hostile-empty-%ld", files);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0) break;
        close(fd);
    }
    while (opened < 100000 && open("/dev/null", O_RDONLY) >= 0) opened++;
    printf("bytes %ld shm %ld files %ld open %ld\n", bytes, shm, files, opened);
}

static void *rest(void *nothing) {
    for (;;) sleep(100);
    return nothing;
}

static void threads(void) {
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    int n = 0;
    while (n < 100000 && pthread_create(&thread, &small, rest, NULL) == 0) n++;
    printf("threads %d\n", n);
    fflush(stdout);
    _exit(0);
}

/* One that sleeps and holds the pipe, and one that is another process every millisecond. */
static void survive(void) {
    for (int kind = 0; kind < 2; kind++) {
        if (fork() == 0) {
            setsid();
            if (fork() > 0) _exit(0);
            for (int n = 1; n < 65; n++) signal(n, SIG_IGN);
            for (;;) {
                if (kind == 0) sleep(100);
                else if (fork() > 0) _exit(0);
                else usleep(1000);
            }
        }
    }
    usleep(50000);
    printf("gone\n");
}

static void look(void) {
    int found = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *each; (each = readdir(folder));) found += atoi(each->d_name) > 0;
    printf("%d\n", found);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "fork")) for (;;) if (fork() < 0) usleep(1000);
    if (!strcmp(what, "memory")) hog();
    if (!strcmp(what, "memories")) {
        for (int n = 0; n < 8; n++) if (fork() == 0) break;
        hog();
    }
    if (!strcmp(what, "loop")) for (volatile int n = 0;; n++);
    if (!strcmp(what, "sleep")) for (;;) sleep(100);
    if (!strcmp(what, "output")) for (;;) puts("hostile hostile hostile");
    if (!strcmp(what, "fill")) figures();
    if (!strcmp(what, "threads")) threads();
    if (!strcmp(what, "survive")) survive();
    if (!strcmp(what, "look")) look();
    if (!strcmp(what, "ordinary")) printf("%d\n", 6 * 7);
    return 0;
}
"""

# Reads calls, a line each: name, number, arguments (a number, s:text, or b:size of zeros).
CALLS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long argument(const char *word) {
    if (!strncmp(word, "s:", 2)) return (long)strdup(word + 2);
    if (!strncmp(word, "b:", 2)) return (long)calloc(1, atoi(word + 2));
    return strtol(word, NULL, 0);
}

int main(void) {
    char line[500];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *name = strtok(line, "\t");
        long number = atol(strtok(NULL, "\t")), a[6] = {0};
        char *word;
        for (int n = 0; n < 6 && (word = strtok(NULL, "\t")); n++) a[n] = argument(word);
        errno = 0;
        long got = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        printf("%s\t%d\n", name, got == -1 ? errno : 0);
    }
    return 0;
}
"""

# The other two tables of system calls that an x86-64 kernel may have: 32 bits, and x32.
OTHER_TABLES = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    long got = -1;
    errno = ENOSYS;
    if (count > 1 && !strcmp(words[1], "32")) {
        __asm__ volatile("int $0x80" : "=a"(got) : "a"(310L), "b"(0x10000000L) : "memory");
    } else {
        got = syscall(0x40000000 + 272, 0x10000000L);
    }
    puts(got == 0 ? "ESCAPED" : "contained");
    return 0;
}
"""

REACH = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;
static void say(const char *name, int escaped) {
    printf("%s %s\n", name, escaped ? "ESCAPED" : "contained");
}
static int opens(const char *path, int how) {
    int fd = open(path, how, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}
static int reaches(const char *host, int port) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, host, &to.sin_addr);
    int got = connect(fd, (struct sockaddr *)&to, sizeof to);
    close(fd);
    return got == 0;
}
static int speaks(const char *path, int hidden) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path + hidden, path, sizeof to.sun_path - 2);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + hidden + strlen(path);
    int got = connect(fd, (struct sockaddr *)&to, size);
    close(fd);
    return got == 0;
}
static void dump(const char *path) {
    char text[4096];
    int fd = open(path, O_RDONLY);
    long size = fd < 0 ? 0 : read(fd, text, sizeof text);
    for (long n = 0; n < size; n++) if (text[n] == 0) text[n] = ' ';
    if (size > 0) printf("DUMP %s\n%.*s\n", path, (int)size, text);
    if (fd >= 0) close(fd);
}

int main(int count, char **words) {
    if (count < 6) return 2;
    const char *secrets[] = {"/etc/passwd", "/etc/shadow", "/root/.bashrc", "/home", words[4],
                             "/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/fd",
                             "/proc/kcore", "/sys/kernel/security", "/dev/mem", "/dev/sda"};
    const char *places[] = {"/", "/usr", "/etc", "/dev", "/run", "/var", "/proc", "/usr/bin",
                            "/run/cache", "/usr/lib", "/root", "/home"};
    char path[300];
    for (unsigned n = 0; n < sizeof secrets / sizeof *secrets; n++) {
        say(n == 4 ? "read-secret" : secrets[n], opens(secrets[n], O_RDONLY));
    }
    for (unsigned n = 0; n < sizeof places / sizeof *places; n++) {
        snprintf(path, sizeof path, "%s/hostile", places[n]);
        say(path, opens(path, O_CREAT | O_WRONLY));
    }
    say("hostname", opens("/proc/sys/kernel/hostname", O_WRONLY));
    say("core-pattern", opens("/proc/sys/kernel/core_pattern", O_WRONLY));
    say("port", reaches("127.0.0.1", atoi(words[1])));
    say("metadata", reaches("169.254.169.254", 80));
    say("internet", reaches("1.1.1.1", 53));
    struct addrinfo *found;
    say("dns", getaddrinfo("example.com", "80", NULL, &found) == 0);
    say("abstract", speaks(words[2], 1));
    say("unix", speaks(words[3], 0));
    symlink(words[4], "/tmp/hostile-link");
    say("symlink", opens("/tmp/hostile-link", O_RDONLY));
    say("hardlink", link("/usr/bin/true", "/tmp/hostile-hard") == 0);
    say("device", mknod("/tmp/hostile-device", S_IFCHR | 0600, 1 << 8 | 1) == 0);
    struct statvfs about;
    const char *scratch[] = {"/tmp", "/dev/shm", "/usr"};
    for (int n = 0; n < 3; n++) {
        say("suid", statvfs(scratch[n], &about) == 0 && !(about.f_flag & ST_NOSUID));
    }
    snprintf(path, sizeof path, "/proc/%s/cmdline", words[5]);
    dump(path);
    dump("/etc/passwd");
    dump("/proc/self/status");
    DIR *folder = opendir("/proc");
    for (struct dirent *each; (each = readdir(folder));) {
        if (atoi(each->d_name) == 0) continue;
        const char *files[] = {"environ", "cmdline", "mountinfo"};
        for (int n = 0; n < 3; n++) {
            snprintf(path, sizeof path, "/proc/%.20s/%s", each->d_name, files[n]);
            dump(path);
        }
    }
    for (char **each = environ; *each; each++) printf("ENV %s\n", *each);
    return 0;
}
"""

# Mode 0 writes what the judge would; 1 answers itself and ends; 2 looks for what is expected.
FORGERY = r"""
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *LINE = "{\"n\": 0, \"outcome\": \"passed\", \"detail\": \"\"}\n"
                          "{\"verdict\": [\"passed\", \"\"]}\n";
static const char *ANSWER = "{\"value\": 1, \"args\": [], \"outcome\": \"passed\", "
                            "\"verdict\": [\"passed\", \"\"]}";

static void frame(int fd) {
    unsigned size = strlen(ANSWER);
    char head[4] = {(char)(size >> 24), (char)(size >> 16), (char)(size >> 8), (char)size};
    if (write(fd, head, 4) < 0 || write(fd, ANSWER, size) < 0) return;
}

static long found(const char *text, long size) {
    for (long n = 0; n + 15 <= size; n++) {
        if (memcmp(text + n, "8392", 4)) continue;
        int digits = 4;
        while (digits < 15 && text[n + digits] >= '0' && text[n + digits] <= '9') digits++;
        if (digits == 15) {
            char number[16] = {0};
            memcpy(number, text + n, 15);
            return atol(number);
        }
    }
    return 0;
}

static long memory(const char *process) {
    static char block[1 << 16];
    char path[300], line[300];
    unsigned long start, end;
    long got = 0;
    snprintf(path, sizeof path, "/proc/%.20s/maps", process);
    FILE *maps = fopen(path, "r");
    snprintf(path, sizeof path, "/proc/%.20s/mem", process);
    int mem = open(path, O_RDONLY);
    while (!got && mem >= 0 && maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
        for (; !got && start < end; start += sizeof block) {
            long size = pread(mem, block, sizeof block, (long)start);
            if (size > 0) got = found(block, size);
        }
    }
    return got;
}

static long search(void) {
    static char block[1 << 16];
    const char *names[] = {"cmdline", "environ", "fd/0", "fd/1", "fd/3", "fd/4", "task/1/environ"};
    char path[300];
    long got = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *each; !got && (each = readdir(folder));) {
        if (atoi(each->d_name) == 0) continue;
        for (int n = 0; !got && n < 7; n++) {
            snprintf(path, sizeof path, "/proc/%.20s/%s", each->d_name, names[n]);
            int fd = open(path, O_RDONLY | O_NONBLOCK);
            long size = fd < 0 ? 0 : read(fd, block, sizeof block);
            if (size > 0) got = found(block, size);
        }
        if (!got && atoi(each->d_name) != getpid()) got = memory(each->d_name);
    }
    return got;
}

long f(long mode) {
    if (mode < 2) {
        for (int fd = 1; fd < 256; fd++) {
            if (write(fd, LINE, strlen(LINE)) < 0) continue;
        }
    }
    if (mode == 1) {
        for (int fd = 1; fd < 256; fd++) frame(fd);
        _exit(0);
    }
    return mode == 2 ? search() : 0;
}

int main(void) {
    printf("%ld\n", search());
    return 0;
}
"""
