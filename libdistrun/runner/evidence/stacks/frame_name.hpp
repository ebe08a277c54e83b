#pragma once
// Shortens demangled names: "void std::__invoke_impl<void, f>(std::__invoke_other, f&&)" becomes
// std::__invoke_impl<...>. Names are untrusted; one that cannot be parsed stays as it is.
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

// Removes the return type, the parameters and what follows them; the result is a part of `function`.
std::string_view qualified_name(std::string_view function);

// Returns a printable name without return type, parameters and unnamed namespaces, with "{lambda#1}" for a lambda. If
// it exceeds `limit` bytes, "..." replaces its template arguments, then its middle.
std::string short_name(std::string_view function, std::size_t limit);

// Returns the short name of the frame's function, else "libx.so+0x1234", else the address.
std::string frame_name(const wire::StackFrame& frame, std::size_t limit);

// Returns the last part of a path.
std::string_view file_of_path(std::string_view path);

// Cuts to `limit` bytes, between characters, with "..." in the middle; `text` is valid UTF-8.
std::string shorten_middle(std::string_view text, std::size_t limit);

}  // namespace distrun::evidence
