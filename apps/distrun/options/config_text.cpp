#include "config_text.hpp"

#include <CLI/CLI.hpp>

#include <distrun/common/base/text.hpp>

#include "config_file.hpp"
#include "help/command_info.hpp"
#include "toml.hpp"

namespace distrun::cli {
namespace {

// Returns the value in effect; empty without a value.
std::string value_text(const OptionInfo& info, const CLI::Option& option) {
  if (option.count() == 0) {
    if (info.is_flag()) return "false";
    return info.default_value.empty() ? "" : toml_text(info.default_value);
  }
  if (info.value.empty() || option.results().back() == "true") return option.as<std::string>();
  if (!info.repeats) return toml_text(option.results().back());
  std::string list;
  for (const std::string& text : option.results()) list += (list.empty() ? "[" : ", ") + toml_text(text);
  return list + "]";
}

}  // namespace

std::string config_text(const CLI::App& app, const Origins& origins, const std::string& config) {
  const std::string file = config.empty() ? "; no file of settings was read" : ", with " + base::one_line(config, 500);
  std::string out = "# The settings of `distrun run`" + file + ".\n";
  for (const OptionInfo& info : info_of(app).options) {
    if (!may_stand_in_config(info)) continue;
    const std::string name = info.long_name();
    const std::string value = value_text(info, *app.get_option("--" + name));
    std::string line = value.empty() ? "# " + name + " is not set" : name + " = " + value;
    constexpr std::size_t kColumn = 40;
    if (line.size() < kColumn) line.resize(kColumn, ' ');
    const auto origin = origins.find(name);
    out += line + "  # " + (origin == origins.end() ? "default" : base::one_line(origin->second, 500)) + "\n";
  }
  return out;
}

}  // namespace distrun::cli
