#pragma once
// The functions of this process by name. Plugins register them while they are loaded, so all ranks of a test have the
// same functions. A rank may hide a function from its peers (compat.hpp); other ranks of the process still have it.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/rpc/functions/function.hpp>

namespace distrun::rpc {

// Thread-safe, like everything below. Throws Error{InvalidArgument} for a name that is taken. `address`: the C++
// function, so that callers can pass the function instead of its name.
void add_function(Function function, const void* address = nullptr);

// Returns a function of the calling thread's rank, or null. The pointer stays valid.
std::shared_ptr<const Function> find_function(std::string_view name);
// Throws Error{Failed} with the hint that both sides must register the function, and with similar names.
std::shared_ptr<const Function> get_function(std::string_view name);
std::vector<std::string> function_names();  // sorted
// Changes whenever the functions of a rank may have changed; for caches.
std::uint64_t functions_version() noexcept;

// Is add_function() for the name of a method: `key` is that of the pointer to the member function (method_key()).
void add_method_name(std::string key, std::string name);
// Returns the name of a method: "my_method". Throws as name_of_function().
const std::string& name_of_method(const std::string& key);

// Returns the name of a C++ function. Throws Error{InvalidArgument} that says how to register it.
const std::string& name_of_function(const void* address);

}  // namespace distrun::rpc
