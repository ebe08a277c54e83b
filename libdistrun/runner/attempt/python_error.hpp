#pragma once
// Finds what Python has printed on standard error before it ended a rank: the traceback of an uncaught exception, or
// the report of a fatal error (faulthandler's, and the interpreter's own).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distrun::runner {

struct PythonError {
  std::string type;  // "ValueError", "torch.OutOfMemoryError", "Fatal Python error"
  std::string text;  // "shard 7 is missing"; one line, perhaps empty
  std::string file;  // of the innermost frame outside Python's library and installed packages, else of the innermost
  std::uint32_t line = 0;
  friend bool operator==(const PythonError&, const PythonError&) = default;
};

// Returns the last fatal error, else the last exception, since earlier ones were handled, or caused it. Exceptions that
// end no program (in a thread of their own, or ignored) are left out. Accepts any bytes, in linear time; pure.
std::optional<PythonError> find_python_error(std::string_view output);

}  // namespace distrun::runner
