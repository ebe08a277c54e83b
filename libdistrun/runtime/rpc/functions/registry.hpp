#pragma once
// The functions of this process by name. Plugins register theirs while they are loaded, and so each rank of a test has
// the same; a rank may hide one from its own peers later (and only there: ranks that are threads share the rest).
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/rpc/functions/function.hpp>

namespace distrun::rpc {

// Any thread, as all below. Throws Error{InvalidArgument} for a name that is taken. `address`, if there is one, is what
// callers in C++ know it by: theirs is the same function.
void add_function(Function function, const void* address = nullptr);
// For the calling thread's rank: as if it had never been registered. False: it wasn't.
bool hide_function(std::string_view name);
void show_function(std::string_view name);  // again

// What the calling thread's rank has. Null: there is none. Stays good.
std::shared_ptr<const Function> find_function(std::string_view name);
// Throws Error{Failed} with the hint that it must be there on both sides, and the names that are most alike.
std::shared_ptr<const Function> get_function(std::string_view name);
std::vector<std::string> function_names();  // sorted
// Changes whenever what a rank has may have changed: for whoever remembers it.
std::uint64_t functions_version() noexcept;

// The same for methods: `key` is what a pointer to a member is known by (method_key()).
void add_method_name(std::string key, std::string name);
// "my_method". Throws as name_of_function().
const std::string& name_of_method(const std::string& key);

// The name of a function of C++. Throws Error{InvalidArgument} if it is not registered, with the way out.
const std::string& name_of_function(const void* address);

}  // namespace distrun::rpc
