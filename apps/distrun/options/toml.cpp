#include "toml.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::cli {
namespace {

[[noreturn]] void refuse(toml::source_index line, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, std::to_string(std::max<toml::source_index>(line, 1)) + ": " + why);
}

[[noreturn]] void refuse(const toml::node& node, const std::string& why) { refuse(node.source().begin.line, why); }

std::string number_text(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

// Returns the text for the option.
std::string single(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    if (text->get().find('\0') != std::string::npos) refuse(node, "a string contains the character 0");
    return text->get();
  }
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point(); number != nullptr && std::isfinite(number->get())) {
    return number_text(number->get());
  }
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (node.is_table()) {
    refuse(node, "tables are not supported here: write keys without a section, as in world-size = 2");
  }
  if (node.is_array()) refuse(node, "nested lists are not supported here");
  refuse(node, "expected a string, a number, true or false");
}

TomlKind kind_of(const toml::node& node) {
  if (node.is_array()) return TomlKind::List;
  if (node.is_boolean()) return TomlKind::Boolean;
  return node.is_number() ? TomlKind::Number : TomlKind::Text;
}

std::string value_text(const toml::node& node) {
  if (const toml::array* list = node.as_array()) {
    std::string text = "[";
    for (const toml::node& each : *list) text += (text.size() > 1 ? ", " : "") + value_text(each);
    return text + "]";
  }
  return node.is_string() ? toml_text(single(node)) : single(node);
}

std::string table_text(const toml::table& table) {
  std::string text = "{";
  for (const auto& [key, node] : table) {
    text += (text.size() > 1 ? ", " : "") + toml_text(key.str()) + " = " + value_text(node);
  }
  return text + "}";
}

bool is_list_of_tables(const toml::array& list) {
  return !list.empty() && std::all_of(list.begin(), list.end(), [](const toml::node& each) { return each.is_table(); });
}

struct Placed {
  toml::source_position at;
  TomlEntry entry;
};

Placed placed(const toml::key& key, const toml::node& node) {
  const toml::source_position at = key.source().begin;
  Placed found{at, {std::string(key.str()), static_cast<int>(at.line), kind_of(node), {}}};
  if (const toml::array* list = node.as_array()) {
    const bool has_tables = is_list_of_tables(*list);
    for (const toml::node& each : *list) {
      found.entry.values.push_back(has_tables ? table_text(*each.as_table()) : single(each));
    }
  } else {
    found.entry.values.push_back(single(node));
  }
  return found;
}

// Removes "Error while parsing ": distrun's message already says that it is an error.
std::string_view without_prefix(std::string_view description) {
  constexpr std::string_view kPrefix = "Error while parsing ";
  return description.substr(description.starts_with(kPrefix) ? kPrefix.size() : 0);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::vector<TomlEntry> read_toml(std::string_view text) {
  if (text.size() > kTomlBytesMax) {
    refuse(1, "the file has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(kTomlBytesMax));
  }
  if (text.find('\0') != text.npos || base::valid_utf8(text) != text) refuse(1, "the file is not valid UTF-8");
  std::vector<Placed> all;
  try {
    for (const auto& [key, node] : toml::parse(text)) all.push_back(placed(key, node));
  } catch (const toml::parse_error& error) {
    refuse(error.source().begin.line, std::string(without_prefix(error.description())));
  }
  const auto place = [](const Placed& each) { return std::tie(each.at.line, each.at.column); };
  std::sort(all.begin(), all.end(), [&](const Placed& a, const Placed& b) { return place(a) < place(b); });
  std::vector<TomlEntry> entries;
  for (Placed& each : all) entries.push_back(std::move(each.entry));
  return entries;
}

std::vector<TomlEntry> read_toml_table(const std::string& text) {
  if (text.size() > kTomlBytesMax || text.find('\n') != text.npos) refuse(1, "expected an inline table");
  std::vector<TomlEntry> entries;
  try {
    const toml::table whole = toml::parse("table = " + text);
    const toml::table* table = whole["table"].as_table();
    if (table == nullptr || whole.size() != 1) refuse(1, "expected an inline table");
    for (const auto& [key, node] : *table) entries.push_back(placed(key, node).entry);
  } catch (const toml::parse_error& error) {
    refuse(1, std::string(without_prefix(error.description())));
  }
  return entries;
}

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : base::valid_utf8(text)) {
#ifdef DISTRUN_FUZZ_PLANTED_BUG
    if (c == '"') {
#else
    if (c == '"' || c == '\\') {
#endif
      out += '\\';
      out += c;
    } else if (is_control(c)) {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace distrun::cli
