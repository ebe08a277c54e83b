#pragma once
// Checks the parts of an id "Suite.name/key=value,...", which must be one word on a command line and unambiguous. Each
// function returns null, or a fragment that says what is wrong: "is empty".
#include <string_view>

namespace distrun::detail {

const char* flaw_of_name(std::string_view name) noexcept;  // of a suite or a test
const char* flaw_of_key(std::string_view key) noexcept;
const char* flaw_of_value(std::string_view value) noexcept;  // may be empty

}  // namespace distrun::detail
