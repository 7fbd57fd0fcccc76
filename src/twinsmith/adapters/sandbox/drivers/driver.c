/* The runtime itself, compiled once, by gcc for C and by g++ for C++. */
#include "driver_json.c"

#include <sys/syscall.h>
#include <unistd.h>

#define LARGEST_FRAME ((size_t)64 << 20)
#define SLACK 4096 /* a program may write its answer into a string that came in short */

/* The call under way. */

static const value *arguments;
static size_t given, taken;
static char lengths_given;
static const char *failure_kind;
static char failure_message[2000];

void twinsmith_fail(const char *kind, const char *message) {
    if (failure_kind) return;
    failure_kind = kind;
    snprintf(failure_message, sizeof failure_message, "%s", message);
}

char twinsmith_failed(void) { return failure_kind != NULL; }

char twinsmith_arity(size_t fewest, size_t most) {
    char message[100];
    lengths_given = given == most;
    if (given == fewest || given == most) return 1;
    snprintf(message, sizeof message, "takes %zu arguments, got %zu", fewest, given);
    twinsmith_fail("TypeError", message);
    return 0;
}

const value *twinsmith_next(void) { return &arguments[taken++]; }

void twinsmith_refuse(const char *kind, const char *expected, const value *found) {
    char message[200];
    int shown = found->raw_size > 40 ? 40 : (int)found->raw_size;
    snprintf(message, sizeof message, "argument %zu: expected %s, got %.*s%s", taken, expected,
             shown, found->raw, found->raw_size > 40 ? "..." : "");
    twinsmith_fail(kind, message);
}

/* Values as C holds them. */

static unsigned long long read_whole(const value *from, char is_signed, size_t size) {
    unsigned bits = (unsigned)(8 * size);
    unsigned long long most = is_signed ? (1ULL << (bits - 1)) - 1 : ~0ULL >> (64 - bits);
    unsigned long long magnitude = from->magnitude;
    char negative = from->negative;
    if (from->kind == TWINSMITH_FLOAT) {
        double size_of = from->number < 0 ? -from->number : from->number;
        negative = from->number < 0;
        if (!(size_of < 18446744073709551616.0)) {
            twinsmith_refuse("OverflowError", "an integer", from);
            return 0;
        }
        magnitude = (unsigned long long)size_of;
        if ((double)magnitude != size_of) twinsmith_refuse("TypeError", "an integer", from);
    } else if (from->kind == TWINSMITH_WIDE) {
        twinsmith_refuse("OverflowError", "an integer of at most 64 bits", from);
    } else if (from->kind != TWINSMITH_WHOLE && from->kind != TWINSMITH_TRUTH) {
        twinsmith_refuse("TypeError", "an integer", from);
    }
    if (magnitude > most + (negative && is_signed) || (negative && !is_signed && magnitude)) {
        char expected[100];
        snprintf(expected, sizeof expected, "%s integer of %u bits",
                 is_signed ? "a signed" : "an unsigned", bits);
        twinsmith_refuse("OverflowError", expected, from);
    }
    return negative ? 0 - magnitude : magnitude;
}

static double read_number(const value *from) {
    if (from->kind != TWINSMITH_WHOLE && from->kind != TWINSMITH_WIDE &&
        from->kind != TWINSMITH_FLOAT)
        twinsmith_refuse("TypeError", "a number", from);
    return from->number;
}

static char *read_text(const value *from) {
    if (from->kind == TWINSMITH_NULL) return NULL;
    if (from->kind != TWINSMITH_TEXT) {
        twinsmith_refuse("TypeError", "a string", from);
        return NULL;
    }
    if (memchr(from->text, 0, from->size))
        twinsmith_refuse("ValueError", "a string without zeros", from);
    char *copy = (char *)twinsmith_allocate(from->size + SLACK);
    memset(copy + from->size, 0, SLACK);
    return (char *)memcpy(copy, from->text, from->size);
}

void twinsmith_read(const value *from, char kind, size_t size, void *into) {
    if (kind == 'b') {
        char fits = from->kind == TWINSMITH_TRUTH ||
                    (from->kind == TWINSMITH_WHOLE && from->magnitude < 2 && !from->negative);
        if (!fits) twinsmith_refuse("TypeError", "a boolean", from);
        *(char *)into = fits && from->magnitude;
    } else if (kind == 'c') {
        char fits = from->kind == TWINSMITH_TEXT && from->size == 1;
        if (!fits) twinsmith_refuse("TypeError", "a string of one byte", from);
        *(char *)into = fits ? from->text[0] : 0;
    } else if (kind == 's') {
        *(char **)into = read_text(from);
    } else if (kind == 'f') {
        double number = read_number(from);
        if (size == sizeof(float))
            *(float *)into = (float)number;
        else
            *(double *)into = number;
    } else {
        unsigned long long bits = read_whole(from, kind == 'i', size);
        memcpy(into, &bits, size); /* every machine we run on is little-endian */
    }
}

void twinsmith_take(char kind, size_t size, void *into) {
    twinsmith_read(twinsmith_next(), kind, size, into);
}

void *twinsmith_take_list(char kind, size_t size, size_t *count) {
    const value *from = twinsmith_next();
    *count = 0;
    if (from->kind != TWINSMITH_ARRAY) {
        twinsmith_refuse("TypeError", "a list", from);
        return NULL;
    }
    char *list = (char *)twinsmith_allocate(from->size * size + 1);
    for (size_t i = 0; i < from->size && !failure_kind; i++)
        twinsmith_read(&from->items[i], kind, size, list + i * size);
    *count = from->size;
    return list;
}

void twinsmith_take_length(char kind, size_t size, void *into, size_t count) {
    value length;
    if (!lengths_given) {
        memset(&length, 0, sizeof length);
        length.kind = TWINSMITH_WHOLE;
        length.magnitude = count;
        length.raw = "a longer list";
        length.raw_size = strlen(length.raw);
        twinsmith_read(&length, kind, size, into);
        return;
    }
    const value *from = twinsmith_next();
    twinsmith_read(from, kind, size, into);
    if (!from->negative && from->number > (double)count)
        twinsmith_refuse("ValueError", "at most the length of the list", from);
}

void twinsmith_same_length(size_t one, size_t other) {
    if (one != other) twinsmith_fail("ValueError", "the lists differ in length");
}

/* The reply. */

void twinsmith_reply_value(void) { put_word("{\"value\": "); }

void twinsmith_reply_args(void) {
    put_word(", \"args\": [");
    taken = 0;
}

void twinsmith_reply_end(void) { put_word("]}"); }

void twinsmith_pass(void) { twinsmith_comma(taken++); }

void twinsmith_echo(void) {
    twinsmith_pass();
    twinsmith_put_raw(arguments[taken - 1].raw, arguments[taken - 1].raw_size);
}

void twinsmith_echo_length(void) {
    if (lengths_given) twinsmith_echo();
}

static void put_raised(void) {
    reply_size = 0;
    put_word("{\"raised\": ");
    twinsmith_put_text(failure_kind, strlen(failure_kind));
    put_word(", \"message\": ");
    twinsmith_put_text(failure_message, strlen(failure_message));
    put_word(", \"where\": \"\"}");
}

/* Frames. A C program may define its own `read` and `write`, so neither is used here. */

static char transfer(long number, int pipe, char *data, size_t size) {
    while (size) {
        long moved = syscall(number, pipe, data, size);
        if (moved <= 0) return 0;
        data += moved;
        size -= (size_t)moved;
    }
    return 1;
}

static char receive(int pipe, char **frame, size_t *size) {
    unsigned char head[4];
    if (!transfer(SYS_read, pipe, (char *)head, 4)) return 0;
    *size = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (*size > LARGEST_FRAME) return 0;
    *frame = (char *)twinsmith_allocate(*size + 1);
    (*frame)[*size] = 0;
    return transfer(SYS_read, pipe, *frame, *size);
}

static char answer(int pipe) {
    char head[4] = {(char)(reply_size >> 24), (char)(reply_size >> 16), (char)(reply_size >> 8),
                    (char)reply_size};
    return transfer(SYS_write, pipe, head, 4) && transfer(SYS_write, pipe, reply, reply_size);
}

static void put_functions(void) {
    size_t count = 0;
    put_word("{\"functions\": [");
    for (const struct twinsmith_function *f = twinsmith_functions; f->name; f++) {
        if (!f->call) continue;
        twinsmith_comma(count++);
        twinsmith_put_text(f->name, strlen(f->name));
    }
    put_word("]}");
}

static void serve(const char *frame, size_t size) {
    value request;
    char fine = twinsmith_parse(frame, size, &request);
    const value *name = fine ? member(&request, "call") : NULL;
    const value *list = fine ? member(&request, "args") : NULL;
    if (!name || name->kind != TWINSMITH_TEXT || !list || list->kind != TWINSMITH_ARRAY) {
        twinsmith_fail("ValueError", "malformed request");
        return;
    }
    const struct twinsmith_function *f = twinsmith_functions;
    while (f->name && strcmp(f->name, name->text) != 0) f++;
    if (!f->name || !f->call) {
        char message[300];
        snprintf(message, sizeof message, "%s '%.200s'",
                 f->name ? "cannot convert the types of" : "no such function:", name->text);
        twinsmith_fail("NameError", message);
        return;
    }
    arguments = list->items;
    given = list->size;
    taken = 0;
    f->call();
}

int main(int count, char **words) {
    if (count < 3) return 2;
    int requests = atoi(words[count - 2]), replies = atoi(words[count - 1]);
    char *frame;
    size_t size;
    put_functions();
    while (answer(replies)) {
        release();
        if (!receive(requests, &frame, &size)) return 0;
        reply_size = 0;
        failure_kind = NULL;
        serve(frame, size);
        if (failure_kind) put_raised();
        twinsmith_flush();
    }
    return 0;
}

#ifndef __cplusplus
void twinsmith_flush(void) { fflush(stdout); }
#endif
