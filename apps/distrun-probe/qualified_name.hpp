#pragma once
// Reduces names of functions to what tables of functions can be compared with. Pure functions; thread-safe.
#include <string>
#include <string_view>

namespace distrun::probe {

// Returns a demangled function without its return type, template arguments and parameters: "std::future::get" for
// "std::future<int>::get()". Of a C function, also without leading underscores and the suffixes of compilers:
// "pthread_mutex_lock" for "__GI___pthread_mutex_lock.part.0".
std::string qualified_name(std::string_view function);

}  // namespace distrun::probe
