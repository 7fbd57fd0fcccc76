/* The driver's runtime for C and C++: values, the call under way, the reply. */
#ifndef TWINSMITH_DRIVER_H
#define TWINSMITH_DRIVER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum twinsmith_kind {
    TWINSMITH_NULL,
    TWINSMITH_TRUTH,
    TWINSMITH_WHOLE,
    TWINSMITH_WIDE, /* a whole number beyond 64 bits: only its `number` is known */
    TWINSMITH_FLOAT,
    TWINSMITH_TEXT,
    TWINSMITH_ARRAY,
    TWINSMITH_OBJECT
};

struct twinsmith_value {
    enum twinsmith_kind kind;
    char negative;                 /* of a whole number */
    unsigned long long magnitude;  /* of a whole number; a truth's 0 or 1 */
    double number;                 /* of every kind of number */
    const char *text;              /* ends with a zero byte */
    size_t size;                   /* bytes of a text, items of an array, pairs of an object */
    struct twinsmith_value *items; /* an object's keys and values take turns */
    const char *raw;               /* the JSON it came from */
    size_t raw_size;
};

/* The glue's table of functions; an entry without a name ends it. */
struct twinsmith_function {
    const char *name;
    void (*call)(void); /* NULL: its types cannot be converted */
};
extern const struct twinsmith_function twinsmith_functions[];

/* The call under way: what is refused first is what the reply tells. */
void twinsmith_fail(const char *kind, const char *message);
void twinsmith_refuse(const char *kind, const char *expected, const struct twinsmith_value *found);
char twinsmith_failed(void);
char twinsmith_arity(size_t fewest, size_t most);
const struct twinsmith_value *twinsmith_next(void);
void *twinsmith_allocate(size_t size);
char twinsmith_parse(const char *json, size_t size, struct twinsmith_value *into);
void twinsmith_flush(void); /* the program's own output */

/* A C value is told by a kind and a size: b(ool) c(har) i(nt) u(nsigned) f(loat) s(tring). */
#define TWINSMITH_INTEGER(T) ((T)-1 < (T)1 ? 'i' : 'u'), sizeof(T)

void twinsmith_read(const struct twinsmith_value *value, char kind, size_t size, void *into);
void twinsmith_take(char kind, size_t size, void *into);
void *twinsmith_take_list(char kind, size_t size, size_t *count);
void twinsmith_take_length(char kind, size_t size, void *into, size_t count);
void twinsmith_same_length(size_t one, size_t other);

/* The reply. */
void twinsmith_reply_value(void);
void twinsmith_reply_args(void);
void twinsmith_reply_end(void);
void twinsmith_echo(void);        /* the next argument, as it came */
void twinsmith_echo_length(void); /* the same, where the caller gave the length */
void twinsmith_pass(void);        /* the next argument goes back as something else */
void twinsmith_comma(size_t index);
void twinsmith_put_raw(const char *text, size_t size);
void twinsmith_put_text(const char *text, size_t size);
void twinsmith_put_string(const char *text, size_t size); /* NULL is null */
void twinsmith_put(char kind, size_t size, const void *data);
void twinsmith_put_list(char kind, size_t size, const void *data, size_t count);

#ifdef __cplusplus
}
#endif
#endif
