// What turns JSON into the types of a C++ function and back, by the function's own signature.
#ifndef TWINSMITH_DRIVER_HPP
#define TWINSMITH_DRIVER_HPP

#include <array>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "driver.h"

namespace twinsmith_driver {

using Value = twinsmith_value;

struct Refused {};  // the runtime already knows why

void tell_thrown();  // called where something was caught

[[noreturn]] inline void refuse(const char *expected, const Value &found) {
    twinsmith_refuse("TypeError", expected, &found);
    throw Refused{};
}

inline void raw(std::string_view text) { twinsmith_put_raw(text.data(), text.size()); }

// The letter by which the runtime knows a simple type; 0 for every other type.
template <class T>
constexpr char letter() {
    if constexpr (std::is_same_v<T, bool>) return 'b';
    if constexpr (std::is_same_v<T, char>) return 'c';
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) return 'f';
    constexpr bool character = std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> ||
                               std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;
    if constexpr (std::is_integral_v<T> && !character) {  // only then a size is sure to exist
        if constexpr (sizeof(T) <= 8) return std::is_signed_v<T> ? 'i' : 'u';
    }
    return 0;
}

template <class T>
struct Convert {
    static constexpr bool known = false;
};

template <class T>
    requires(letter<T>() != 0)
struct Convert<T> {
    static constexpr bool known = true;
    static T read(const Value &from) {
        T into{};
        twinsmith_read(&from, letter<T>(), sizeof(T), &into);
        if (twinsmith_failed()) throw Refused{};
        return into;
    }
    static void write(const T &data) { twinsmith_put(letter<T>(), sizeof(T), &data); }
};

template <>
struct Convert<long double> {
    static constexpr bool known = true;
    static long double read(const Value &from) { return Convert<double>::read(from); }
    static void write(long double data) { Convert<double>::write(static_cast<double>(data)); }
};

template <>
struct Convert<const char *> {
    static constexpr bool known = true;
    static const char *read(const Value &from) {
        const char *into = nullptr;
        twinsmith_read(&from, 's', sizeof into, &into);
        if (twinsmith_failed()) throw Refused{};
        return into;
    }
    static void write(const char *data) { twinsmith_put('s', sizeof data, &data); }
};

template <>
struct Convert<std::string_view> {
    static constexpr bool known = true;
    static std::string_view read(const Value &from) {
        if (from.kind != TWINSMITH_TEXT) refuse("a string", from);
        return {from.text, from.size};
    }
    static void write(std::string_view data) { twinsmith_put_text(data.data(), data.size()); }
};

template <>
struct Convert<std::string> {
    static constexpr bool known = true;
    static std::string read(const Value &from) {
        return std::string(Convert<std::string_view>::read(from));
    }
    static void write(const std::string &data) { Convert<std::string_view>::write(data); }
};

template <>
struct Convert<std::nullptr_t> {
    static constexpr bool known = true;
    static std::nullptr_t read(const Value &) { return nullptr; }
    static void write(std::nullptr_t) { raw("null"); }
};

inline const Value &expect_array(const Value &from) {
    if (from.kind != TWINSMITH_ARRAY) refuse("a list", from);
    return from;
}

inline const Value &expect_array(const Value &from, std::size_t size) {
    if (expect_array(from).size != size)
        refuse(("a list of " + std::to_string(size)).c_str(), from);
    return from;
}

template <class T, class Items>
void write_items(const Items &items) {
    std::size_t index = 0;
    raw("[");
    for (const auto &item : items) {
        twinsmith_comma(index++);
        Convert<T>::write(item);
    }
    raw("]");
}

// Everything that grows at its end: vector, deque, list, set and unordered_set.
template <class Items, class T>
struct ConvertItems {
    static constexpr bool known = Convert<T>::known;
    static Items read(const Value &from) {
        Items into;
        expect_array(from);
        for (std::size_t i = 0; i < from.size; i++)
            into.insert(into.end(), Convert<T>::read(from.items[i]));
        return into;
    }
    static void write(const Items &data) { write_items<T>(data); }
};

template <class T>
struct Convert<std::vector<T>> : ConvertItems<std::vector<T>, T> {};
template <class T>
struct Convert<std::deque<T>> : ConvertItems<std::deque<T>, T> {};
template <class T>
struct Convert<std::list<T>> : ConvertItems<std::list<T>, T> {};
template <class T, class L>
struct Convert<std::set<T, L>> : ConvertItems<std::set<T, L>, T> {};
template <class T, class L>
struct Convert<std::multiset<T, L>> : ConvertItems<std::multiset<T, L>, T> {};

template <class T, class H, class E>
struct Convert<std::unordered_set<T, H, E>> : ConvertItems<std::unordered_set<T, H, E>, T> {
    // In order where there is one, so that equal sets look equal.
    static void write(const std::unordered_set<T, H, E> &data) {
        if constexpr (requires(const T &item) { item < item; })
            write_items<T>(std::set<T>(data.begin(), data.end()));
        else
            write_items<T>(data);
    }
};

template <class T, std::size_t N>
struct Convert<std::array<T, N>> {
    static constexpr bool known = Convert<T>::known && std::is_default_constructible_v<T>;
    static std::array<T, N> read(const Value &from) {
        std::array<T, N> into{};
        expect_array(from, N);
        for (std::size_t i = 0; i < N; i++) into[i] = Convert<T>::read(from.items[i]);
        return into;
    }
    static void write(const std::array<T, N> &data) { write_items<T>(data); }
};

// An object's key is a text; a number is written in one.
template <class K>
K read_key(const Value &key) {
    if constexpr (letter<K>() == 0 || letter<K>() == 'c') {
        return Convert<K>::read(key);
    } else {
        Value number;
        if (!twinsmith_parse(key.text, key.size, &number)) refuse("a number as key", key);
        return Convert<K>::read(number);
    }
}

template <class K>
void write_key(const K &key) {
    constexpr bool number = letter<K>() != 0 && letter<K>() != 'c';
    if (number) raw("\"");
    Convert<K>::write(key);
    if (number) raw("\"");
}

template <class Map, class K, class V>
struct ConvertMap {
    static constexpr bool text =
        std::is_same_v<K, std::string> || std::is_same_v<K, std::string_view>;
    static constexpr bool known = (text || letter<K>() != 0) && Convert<V>::known;
    static Map read(const Value &from) {
        Map into;
        if (from.kind != TWINSMITH_OBJECT) refuse("an object", from);
        for (std::size_t i = 0; i < from.size; i++)
            into.insert_or_assign(read_key<K>(from.items[2 * i]),
                                  Convert<V>::read(from.items[2 * i + 1]));
        return into;
    }
    static void write(const Map &data) {
        std::size_t index = 0;
        raw("{");
        for (const auto &[key, item] : data) {
            twinsmith_comma(index++);
            write_key<K>(key);
            raw(": ");
            Convert<V>::write(item);
        }
        raw("}");
    }
};

template <class K, class V, class L>
struct Convert<std::map<K, V, L>> : ConvertMap<std::map<K, V, L>, K, V> {};
template <class K, class V, class H, class E>
struct Convert<std::unordered_map<K, V, H, E>>
    : ConvertMap<std::unordered_map<K, V, H, E>, K, V> {};

template <class Items, class... T>
struct ConvertTuple {
    static constexpr bool known = (Convert<T>::known && ...);
    static Items read(const Value &from) {
        expect_array(from, sizeof...(T));
        std::size_t index = 0;  // braces keep the order
        return Items{Convert<T>::read(from.items[index++])...};
    }
    static void write(const Items &data) {
        std::size_t index = 0;
        raw("[");
        std::apply([&](const T &...item) {
            ((twinsmith_comma(index++), Convert<T>::write(item)), ...);
        }, data);
        raw("]");
    }
};

template <class A, class B>
struct Convert<std::pair<A, B>> : ConvertTuple<std::pair<A, B>, A, B> {};
template <class... T>
struct Convert<std::tuple<T...>> : ConvertTuple<std::tuple<T...>, T...> {};

template <class T>
struct Convert<std::optional<T>> {
    static constexpr bool known = Convert<T>::known;
    static std::optional<T> read(const Value &from) {
        if (from.kind == TWINSMITH_NULL) return std::nullopt;
        return Convert<T>::read(from);
    }
    static void write(const std::optional<T> &data) {
        if (data)
            Convert<T>::write(*data);
        else
            raw("null");
    }
};

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

// How a result is looked at: `char *` as `const char *`.
template <class R>
using Result = std::conditional_t<std::is_same_v<Plain<R>, char *>, const char *, Plain<R>>;

template <class A>
constexpr bool changes =
    std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;

template <class A>
void write_back(const Plain<A> &data) {
    if constexpr (changes<A>) {
        twinsmith_pass();
        Convert<Plain<A>>::write(data);
    } else {
        twinsmith_echo();
    }
}

template <auto F, class R, class... A>
void call(R (*)(A...)) {
    if (!twinsmith_arity(sizeof...(A), sizeof...(A))) return;
    try {
        std::tuple<Plain<A>...> given{Convert<Plain<A>>::read(*twinsmith_next())...};
        std::apply([](Plain<A> &...item) {
            twinsmith_reply_value();
            if constexpr (std::is_void_v<R>) {
                F(static_cast<A &&>(item)...);
                raw("null");
            } else {
                Convert<Result<R>>::write(F(static_cast<A &&>(item)...));
            }
            twinsmith_reply_args();
            (write_back<A>(item), ...);
            twinsmith_reply_end();
        }, given);
    } catch (...) {
        tell_thrown();
    }
}

template <auto F, class R, class... A>
constexpr auto caller(R (*)(A...)) -> void (*)() {
    constexpr bool result = std::is_void_v<R> || Convert<Result<R>>::known;
    if constexpr (result && (Convert<Plain<A>>::known && ...))
        return [] { call<F>(F); };
    else
        return nullptr;
}

template <auto F>
constexpr auto caller(...) -> void (*)() {  // a function like printf
    return nullptr;
}

template <auto F>
constexpr twinsmith_function entry(const char *name) {
    return {name, caller<F>(F)};
}

}  // namespace twinsmith_driver
#endif
