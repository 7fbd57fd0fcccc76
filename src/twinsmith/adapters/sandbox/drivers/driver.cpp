// The runtime for C++: the one for C, and what a program threw.
#include "driver.c"

#include <cxxabi.h>

#include <iostream>
#include <typeinfo>

#include "driver.hpp"

void twinsmith_flush(void) {
    std::cout.flush();
    fflush(stdout);
}

namespace twinsmith_driver {

static std::string thrown_name() {
    const std::type_info *type = abi::__cxa_current_exception_type();
    if (!type) return "unknown";
    int status = 0;
    char *readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    std::string name = readable ? readable : type->name();
    free(readable);
    return name;
}

void tell_thrown() {
    static std::string name;
    name = thrown_name();
    try {
        throw;
    } catch (const Refused &) {  // already told
    } catch (const std::exception &error) {
        twinsmith_fail(name.c_str(), error.what());
    } catch (const std::string &text) {
        twinsmith_fail("std::string", text.c_str());
    } catch (const char *text) {
        twinsmith_fail("const char*", text);
    } catch (int number) {
        twinsmith_fail("int", std::to_string(number).c_str());
    } catch (...) {
        twinsmith_fail(name.c_str(), "");
    }
}

}  // namespace twinsmith_driver
