#include "help_text.hpp"

#include <algorithm>

namespace distrun::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 30;  // where descriptions begin

// Appends `text` word by word; `at` is the current column, and new lines begin at `indent`.
void add_wrapped(std::string& out, const std::string& text, std::size_t at, std::size_t indent) {
  bool first = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t length = end - begin;
    if (!first && at + 1 + length > kWidth) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out.append(text, begin, length);
    at += length;
    first = false;
    begin = end + 1;
  }
  out += '\n';
}

void add_option(std::string& out, const OptionInfo& option) {
  std::string line = "  " + signature_of(option);
  if (line.size() + 2 > kColumn) {
    out += line + "\n";
    line.clear();
  }
  line.resize(kColumn, ' ');
  out += line;
  add_wrapped(out, description_of(option), kColumn, kColumn);
}

}  // namespace

std::string signature_of(const OptionInfo& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
  if (option.value.empty()) return text;
  if (!option.positional() && !option.is_flag()) text += ' ';
  return text + option.value + (option.positional() && option.repeats ? "..." : "");
}

std::string description_of(const OptionInfo& option) {
  return option.default_value.empty() ? option.description
                                      : option.description + " (default " + option.default_value + ")";
}

std::vector<std::string> groups_of(const CommandInfo& command) {
  std::vector<std::string> groups;
  for (const OptionInfo& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

std::string usage_line(const CommandInfo& command) {
  std::string line = command.name + " [OPTIONS]";
  for (const OptionInfo& option : command.options) {
    if (!option.positional()) continue;
    const std::string text = signature_of(option);
    line += option.required ? " " + text : " [" + text + "]";
  }
  return line;
}

std::string help_text(const CommandInfo& command) {
  std::string out;
  add_wrapped(out, command.description, 0, 0);
  out += "Usage: " + usage_line(command) + "\n";
  for (const std::string& group : groups_of(command)) {
    out += "\n" + group + ":\n";
    for (const OptionInfo& option : command.options) {
      if (option.group == group) add_option(out, option);
    }
  }
  return command.notes.empty() ? out : out + command.notes + "\n";
}

}  // namespace distrun::cli
