/* JSON in and out, and the memory it takes; a part of driver.c. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 900
#define BLOCK ((size_t)64 << 10)

typedef struct twinsmith_value value;

/* Memory that lives as long as one call. */

struct block {
    struct block *next;
    size_t used, size;
    double start[]; /* aligned for everything */
};
static struct block *blocks;

void *twinsmith_allocate(size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (!blocks || blocks->size - blocks->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        struct block *fresh = (struct block *)malloc(sizeof *fresh + room);
        if (!fresh) abort();
        fresh->next = blocks;
        fresh->used = 0;
        fresh->size = room;
        blocks = fresh;
    }
    void *found = (char *)blocks->start + blocks->used;
    blocks->used += size;
    return found;
}

static void release(void) {
    while (blocks) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* JSON in. */

static const char *at, *end;

static char parse(value *into, int depth);

static void skip_space(void) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) at++;
}

static char eat(const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - at) < size || memcmp(at, word, size) != 0) return 0;
    at += size;
    return 1;
}

static size_t encode(unsigned long code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    for (size_t i = more; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (char)(lead[more] | code);
    return more + 1;
}

static long hex4(void) {
    long code = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++, at++) {
        char c = *at;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static char parse_escape(char *out, size_t *size) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (at == end) return 0;
    char c = *at++;
    if (c != 'u') {
        const char *found = c ? strchr(from, c) : NULL;
        if (found) out[(*size)++] = to[found - from];
        return found != NULL;
    }
    long code = hex4();
    if (code < 0) return 0;
    if (code >= 0xD800 && code < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        const char *before = at;
        at += 2;
        long low = hex4();
        if (low >= 0xDC00 && low < 0xE000)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        else
            at = before;
    }
    if (code >= 0xD800 && code < 0xE000) code = 0xFFFD; /* half of a pair */
    *size += encode((unsigned long)code, out + *size);
    return 1;
}

static char parse_text(value *into) {
    const char *close = ++at;
    while (close < end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= end) return 0;
    /* The text is never longer than what it was written as. */
    char *out = (char *)twinsmith_allocate((size_t)(close - at) + 1);
    size_t size = 0;
    while (at < close) {
        if (*at != '\\')
            out[size++] = *at++;
        else if (at++, !parse_escape(out, &size))
            return 0;
    }
    at = close + 1;
    out[size] = 0;
    into->kind = TWINSMITH_TEXT;
    into->text = out;
    into->size = size;
    return 1;
}

static char parse_number(value *into) {
    const char *start = at;
    char whole = 1, wide = 0, *stop;
    into->negative = *at == '-';
    at += into->negative;
    if (eat("Infinity")) {
        into->kind = TWINSMITH_FLOAT;
        into->number = into->negative ? -__builtin_inf() : __builtin_inf();
        return 1;
    }
    for (; at < end && strchr("+-.eE0123456789", *at) && *at; at++) {
        if (*at < '0' || *at > '9')
            whole = 0;
        else if (__builtin_mul_overflow(into->magnitude, 10ULL, &into->magnitude) ||
                 __builtin_add_overflow(into->magnitude, (unsigned long long)(*at - '0'),
                                        &into->magnitude))
            wide = 1;
    }
    into->number = strtod(start, &stop);
    into->kind = !whole ? TWINSMITH_FLOAT : wide ? TWINSMITH_WIDE : TWINSMITH_WHOLE;
    return stop == at && at > start + into->negative;
}

/* The items of an array, or the keys and values of an object, gathered in a list that doubles. */
static char parse_items(value *into, char close, int depth) {
    size_t room = 0, count = 0;
    char object = close == '}';
    at++;
    skip_space();
    into->kind = object ? TWINSMITH_OBJECT : TWINSMITH_ARRAY;
    if (at < end && *at == close) return at++, 1;
    for (;;) {
        if (count + 2 > room) {
            room = room ? room * 2 : 4;
            value *wider = (value *)twinsmith_allocate(room * sizeof(value));
            if (count) memcpy(wider, into->items, count * sizeof(value));
            into->items = wider;
        }
        if (object) {
            if (!parse(&into->items[count], depth + 1)) return 0;
            if (into->items[count++].kind != TWINSMITH_TEXT) return 0;
            skip_space();
            if (!eat(":")) return 0;
        }
        if (!parse(&into->items[count++], depth + 1)) return 0;
        skip_space();
        if (at == end || (*at != ',' && *at != close)) return 0;
        if (*at++ == close) break;
    }
    into->size = object ? count / 2 : count;
    return 1;
}

static char parse_here(value *into, int depth) {
    if (at == end || depth > DEEPEST) return 0;
    if (*at == '"') return parse_text(into);
    if (*at == '[') return parse_items(into, ']', depth);
    if (*at == '{') return parse_items(into, '}', depth);
    if (eat("null")) return 1;
    into->magnitude = *at == 't';
    into->kind = TWINSMITH_TRUTH;
    if (eat("true") || eat("false")) return 1;
    into->kind = TWINSMITH_FLOAT;
    into->number = *at == 'N' ? __builtin_nan("") : __builtin_inf();
    if (eat("NaN") || eat("Infinity")) return 1;
    return parse_number(into);
}

static char parse(value *into, int depth) {
    memset(into, 0, sizeof *into);
    skip_space();
    into->raw = at;
    char fine = parse_here(into, depth);
    into->raw_size = (size_t)(at - into->raw);
    return fine;
}

char twinsmith_parse(const char *json, size_t size, value *into) {
    at = json;
    end = json + size;
    if (!parse(into, 0)) return 0;
    skip_space();
    return at == end;
}

static const value *member(const value *object, const char *key) {
    if (object->kind != TWINSMITH_OBJECT) return NULL;
    for (size_t i = 0; i < object->size; i++)
        if (strcmp(object->items[2 * i].text, key) == 0) return &object->items[2 * i + 1];
    return NULL;
}

/* JSON out. */

static char *reply;
static size_t reply_size, reply_room;

void twinsmith_put_raw(const char *text, size_t size) {
    if (reply_room - reply_size < size) {
        reply_room = (reply_size + size) * 2;
        reply = (char *)realloc(reply, reply_room);
        if (!reply) abort();
    }
    memcpy(reply + reply_size, text, size);
    reply_size += size;
}

static void put_word(const char *word) { twinsmith_put_raw(word, strlen(word)); }

void twinsmith_comma(size_t index) {
    if (index) twinsmith_put_raw(", ", 2);
}

/* How many bytes the character at `text` takes; 0 where it is no UTF-8. */
static size_t character(const unsigned char *text, size_t left) {
    unsigned char c = text[0];
    size_t size = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (size > left) return 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    if (size < 3) return size;
    unsigned char second = text[1];
    char bad = (c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) ||
               (c == 0xF0 && second < 0x90) || (c == 0xF4 && second > 0x8F);
    return bad ? 0 : size;
}

void twinsmith_put_text(const char *text, size_t size) {
    char code[8];
    put_word("\"");
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = character((const unsigned char *)text + i, size - i);
        if (c < 0x20 || c == '"' || c == '\\') {
            snprintf(code, sizeof code, "\\u%04x", c);
            put_word(code);
        } else if (length) {
            twinsmith_put_raw(text + i, length);
        } else {
            put_word("\\ufffd");
        }
        i += length ? length : 1;
    }
    put_word("\"");
}

void twinsmith_put_string(const char *text, size_t size) {
    if (text)
        twinsmith_put_text(text, size);
    else
        put_word("null");
}

static void put_number(double number) {
    char text[40];
    if (number != number) {
        put_word("NaN");
    } else if (number - number != 0) {
        put_word(number < 0 ? "-Infinity" : "Infinity");
    } else {
        snprintf(text, sizeof text, "%.17g", number);
        put_word(text);
        if (!strpbrk(text, ".e")) put_word(".0");
    }
}

void twinsmith_put(char kind, size_t size, const void *data) {
    char text[40];
    unsigned long long bits = 0;
    if (kind == 'b') {
        put_word(*(const char *)data ? "true" : "false");
    } else if (kind == 'c') {
        twinsmith_put_text((const char *)data, 1);
    } else if (kind == 's') {
        const char *string = *(const char *const *)data;
        twinsmith_put_string(string, string ? strlen(string) : 0);
    } else if (kind == 'f') {
        put_number(size == sizeof(float) ? *(const float *)data : *(const double *)data);
    } else {
        memcpy(&bits, data, size);
        unsigned shift = (unsigned)(64 - 8 * size);
        if (kind == 'i')
            snprintf(text, sizeof text, "%lld", (long long)(bits << shift) >> shift);
        else
            snprintf(text, sizeof text, "%llu", bits);
        put_word(text);
    }
}

void twinsmith_put_list(char kind, size_t size, const void *data, size_t count) {
    if (!data && count > 0) {
        put_word("null");
        return;
    }
    put_word("[");
    for (size_t i = 0; i < count; i++) {
        twinsmith_comma(i);
        twinsmith_put(kind, size, (const char *)data + i * size);
    }
    put_word("]");
}
