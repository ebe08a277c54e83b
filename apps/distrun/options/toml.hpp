#pragma once
// A file of settings is a part of TOML 1.0: `key = value` by themselves, where a value is a text, a number, true or
// false, or a list of these. The rest of TOML (sections, dates, tables, lists within lists) is refused by name.
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

// In the order of the file. Throws Error{InvalidArgument} that begins with the line's number and a colon: what is not
// TOML or not of this part, a key that comes twice, a file over kTomlBytesMax.
std::vector<TomlEntry> read_toml(std::string_view text);

// A text as a value of TOML, on one line, in ASCII but for what is valid UTF-8.
std::string toml_text(std::string_view text);

}  // namespace distrun::cli
