// A settings file: read, or refused with a line number. The values read are texts; written and read again, they are the
// same.
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

#include <cstdlib>
#include <string>

#include "fuzz.hpp"
#include "options/toml.hpp"

using namespace distrun;
using namespace distrun::cli;
using fuzz::require;

namespace {

std::string written(const TomlEntry& entry) {
  if (entry.kind == TomlKind::Number || entry.kind == TomlKind::Boolean) return entry.values.front();
  if (entry.kind == TomlKind::Text) return toml_text(entry.values.front());
  std::string list = "[";
  for (const std::string& value : entry.values) list += toml_text(value) + ",";
  return list + "]";
}

void check_line(const std::string& refusal, std::string_view text) {
  const long line = std::strtol(refusal.c_str(), nullptr, 10);
  long lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  require(line >= 1 && line <= lines, "a refusal begins with a line of the file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  std::vector<TomlEntry> entries;
  try {
    entries = read_toml(text);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
    check_line(error.what(), text);
    return 0;
  }
  std::string again;
  for (const TomlEntry& entry : entries) {
    for (const std::string& value : entry.values) require(base::valid_utf8(value) == value, "a value is a text");
    require(entry.kind == TomlKind::List || entry.values.size() == 1, "what is no list has one value");
    again += entry.key + " = " + written(entry) + "\n";
  }
  if (again.size() > kTomlBytesMax) return 0;  // escapes may take more bytes than the characters they encode
  const std::vector<TomlEntry> same = read_toml(again);
  require(same.size() == entries.size(), "what was written has as many keys");
  for (std::size_t i = 0; i < same.size(); ++i) {
    require(same[i].key == entries[i].key && same[i].values == entries[i].values, "what was written is read as it was");
  }
  return 0;
}
