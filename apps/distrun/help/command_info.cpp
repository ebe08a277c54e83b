#include "command_info.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace distrun::cli {
namespace {

OptionInfo option_info(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  const std::string type = option.get_type_name();
  if (!is_flag || type.starts_with('[')) info.value = type;
  info.description = option.get_description();
  info.group = option.get_group();
  const std::string by_default = option.get_default_str();
  if (!is_flag && by_default != "[]") info.default_value = by_default;  // CLI11's text for an empty list
  info.repeats = option.get_expected_max() > 1;
  info.required = option.get_required();
  return info;
}

// CLI11 has no option for the arguments after those of a prefix command.
OptionInfo program_info() {
  OptionInfo info;
  info.value = kProgram;
  info.description = "The program and its arguments";
  info.group = "Program";
  info.repeats = info.required = true;
  return info;
}

// "FILE" is a placeholder for a value; "off" is literal.
bool is_placeholder(const std::string& word) { return !word.empty() && word.front() >= 'A' && word.front() <= 'Z'; }

}  // namespace

std::string OptionInfo::long_name() const {
  for (const std::string& name : names) {
    if (name.starts_with("--")) return name.substr(2);
  }
  return "";
}

std::vector<std::string> OptionInfo::choices() const {
  if (value.find('|') == std::string::npos) return {};
  std::vector<std::string> words = split_choices(value);
  std::erase_if(words, [](const std::string& word) { return is_placeholder(word); });
  return words;
}

bool OptionInfo::takes_file() const {
  const std::vector<std::string> parts = split_choices(value);
  return std::find(parts.begin(), parts.end(), "FILE") != parts.end();
}

const OptionInfo* CommandInfo::find(const std::string& wanted) const {
  const auto at = std::find_if(options.begin(), options.end(), [&](const OptionInfo& option) {
    return std::find(option.names.begin(), option.names.end(), wanted) != option.names.end();
  });
  return at == options.end() ? nullptr : &*at;
}

CommandInfo info_of(const CLI::App& app) {
  CommandInfo info{app.get_name(), app.get_description(), {}, app.get_footer()};
  const CLI::Option* help = app.get_help_ptr();
  if (app.get_prefix_command()) info.options.push_back(program_info());
  for (const CLI::Option* option : app.get_options()) {
    if (option != help && !option->get_group().empty()) info.options.push_back(option_info(*option));
  }
  if (help != nullptr) info.options.push_back(option_info(*help));
  return info;
}

std::vector<std::string> split_choices(const std::string& value) {
  std::vector<std::string> choices;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find('|', at), value.size());
    choices.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

}  // namespace distrun::cli
