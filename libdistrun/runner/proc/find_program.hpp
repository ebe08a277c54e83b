#pragma once
#include <string>
#include <string_view>

namespace distrun::proc {

// The value of $PATH if it is not set.
inline constexpr char kUsualPath[] = "/usr/local/bin:/usr/bin:/bin";

// Returns the file that a shell would execute for this name: the name itself if it has a slash, else the first match in
// `path`, a value of $PATH. Throws Error{Failed} that says what is wrong: missing, a directory, not executable.
std::string find_program(const std::string& name, std::string_view path);

}  // namespace distrun::proc
