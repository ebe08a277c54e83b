#pragma once
// Demangled names made short enough to read: "void std::__invoke_impl<void, f>(std::__invoke_other, f&&)" is
// std::__invoke_impl<...>. Names come from outside and may hold anything; what cannot be read as a name stays as it is.
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

// Without return type, parameters and what follows them; a part of `function`.
std::string_view qualified_name(std::string_view function);

// For people: printable, without return type, parameters and unnamed namespaces, "{lambda#1}" for a lambda. If it is
// longer than `limit` bytes its template arguments become "...", and if that is not enough, its middle does.
std::string short_name(std::string_view function, std::size_t limit);

// What a frame is called: its short name, else "libx.so+0x1234", else its address.
std::string frame_name(const wire::StackFrame& frame, std::size_t limit);

// The last part of a path.
std::string_view file_of_path(std::string_view path);

// Cut to `limit` bytes, between characters, with "..." in the middle; `text` is valid UTF-8.
std::string shorten_middle(std::string_view text, std::size_t limit);

}  // namespace distrun::evidence
