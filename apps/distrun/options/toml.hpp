#pragma once
// A settings file uses a part of TOML 1.0: lines `key = value`, where a value is a text, a number, true or false, or a
// list of these. Other TOML (sections, dates, tables, nested lists) is refused by name.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::cli {

enum class TomlKind { Text, Number, Boolean, List };

struct TomlEntry {
  std::string key;
  int line = 0;  // counts from 1
  TomlKind kind = TomlKind::Text;
  std::vector<std::string> values;  // one, or those of a list; numbers in decimal
};

inline constexpr std::size_t kTomlBytesMax = std::size_t{64} * 1024;

// Returns the entries in file order. Throws Error{InvalidArgument} that begins with the line number and a colon for
// invalid or unsupported TOML, a duplicate key, and a file over kTomlBytesMax.
std::vector<TomlEntry> read_toml(std::string_view text);

// Formats a text as a TOML value, on one line; keeps valid UTF-8 and is otherwise ASCII.
std::string toml_text(std::string_view text);

}  // namespace distrun::cli
