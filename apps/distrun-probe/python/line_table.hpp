#pragma once
// Decodes the tables by which code objects say which line an instruction belongs to. The bytes are untrusted. Pure;
// thread-safe.
#include <cstdint>
#include <optional>
#include <string_view>

#include "layout.hpp"

namespace distrun::probe::python {

// Returns the line of the instruction at `offset`, in bytes from the first one; before that (a function that is about
// to begin), `first_line`. Empty if the instruction has no line, or the table does not reach it.
std::optional<std::uint32_t> line_at(LineFormat format, std::string_view table, std::int32_t first_line,
                                     std::int64_t offset);

}  // namespace distrun::probe::python
