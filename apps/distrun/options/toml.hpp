#pragma once
// A settings file uses a part of TOML 1.0: lines `key = value`, where a value is a text, a number, true or false, or a
// list of these; and tables [[name]] of such lines. Other TOML (sections, dates, nested lists) is refused by name.
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
  // One, or those of a list; numbers in decimal. The tables [[name]] are a list of inline tables, as text.
  std::vector<std::string> values;
};

inline constexpr std::size_t kTomlBytesMax = std::size_t{64} * 1024;

// Returns the entries in file order. Throws Error{InvalidArgument} that begins with the line number and a colon for
// invalid or unsupported TOML, a duplicate key, and a file over kTomlBytesMax.
std::vector<TomlEntry> read_toml(std::string_view text);

// Reads an inline table, such as {filter = "tag:slow", retries = 2}. Throws Error{InvalidArgument}.
std::vector<TomlEntry> read_toml_table(const std::string& text);

// Formats a text as a TOML value, on one line; keeps valid UTF-8 and is otherwise ASCII.
std::string toml_text(std::string_view text);

}  // namespace distrun::cli
