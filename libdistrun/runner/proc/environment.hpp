#pragma once
// Environments of programs to be started: lists of "KEY=value".
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::proc {

using Variables = std::vector<std::string>;

// Returns the whole environment of this process.
Variables own_environment();
// Returns the variables of all lists. Of equal names, the last counts, in the same list or a later one.
Variables merged(std::initializer_list<const Variables*> lists);
// Returns the value of a variable, or nullptr if it is not set. Of equal names, the last counts.
const char* find_variable(const Variables& variables, std::string_view name);
// Returns the name of a variable: "KEY" of "KEY=value".
std::string_view name_of_variable(std::string_view variable) noexcept;

// Returns the name of the machine that this process is on, as gethostname() does, at most 255 bytes.
std::string host_name();

}  // namespace distrun::proc
