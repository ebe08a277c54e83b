#include "config_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>

#include "parsing.hpp"
#include "toml.hpp"

namespace distrun::cli {
namespace fs = std::filesystem;
namespace {

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<std::string> keys_of(const CommandInfo& run) {
  std::vector<std::string> keys;
  for (const OptionInfo& option : run.options) {
    if (may_stand_in_config(option)) keys.push_back(option.long_name());
  }
  return keys;
}

const OptionInfo& option_of(const TomlEntry& entry, const CommandInfo& run, const std::string& place) {
  const OptionInfo* option = run.find("--" + entry.key);
  if (option == nullptr) {
    refuse(place + ": " + entry.key + " is not a setting" + base::did_you_mean(entry.key, keys_of(run)));
  }
  if (!may_stand_in_config(*option)) refuse(place + ": " + entry.key + " is allowed only on the command line");
  return *option;
}

// Returns the texts for the option; empty if a flag is off.
std::vector<std::string> texts_of(const TomlEntry& entry, const OptionInfo& option, const std::string& place) {
  const bool is_switch = entry.kind == TomlKind::Boolean;
  if (option.is_flag()) {
    if (!is_switch && (option.value.empty() || entry.kind == TomlKind::List)) {
      refuse(place + ": " + entry.key + " must be true or false" + (option.value.empty() ? "" : " or a number"));
    }
    return entry.values.front() == "false" ? std::vector<std::string>{} : entry.values;
  }
  if (is_switch) refuse(place + ": " + entry.key + " takes a value (" + option.value + "), not true or false");
  const bool is_list = entry.kind == TomlKind::List;
  if (is_list && !option.repeats) refuse(place + ": " + entry.key + " takes one value, not a list");
  return entry.values;
}

std::string beside(const std::string& file, const std::string& path) {
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

}  // namespace

std::optional<std::string> find_config(const std::string& start, const std::string& home) {
  std::optional<std::string> found;
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (!found && is_there(folder / kConfigName)) found = (folder / kConfigName).string();
    if (is_there(folder / ".git") || (!home.empty() && folder == fs::path(home))) return found;
    if (folder == folder.parent_path()) break;
  }
  const fs::path here = fs::path(start) / kConfigName;
  return is_there(here) ? std::optional(here.string()) : std::nullopt;
}

std::string read_config(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse(path + ": the file of settings does not exist; use --config none to run without one");
  if (!fs::is_regular_file(status)) refuse(path + ": not a regular file; settings are read from a file");
  std::ifstream file(path, std::ios::binary);
  std::string text(kTomlBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad())
    refuse(path + ": cannot be read; use --config none to run without a file of settings");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool may_stand_in_config(const OptionInfo& option) {
  const std::string name = option.long_name();
  return !option.positional() && name != "config" && name != "help" && !is_for_one_run(name);
}

Layer config_layer(const std::string& path, std::string_view text, const CommandInfo& run) {
  std::vector<TomlEntry> entries;
  try {
    entries = read_toml(text);
  } catch (const Error& error) {
    refuse(path + ":" + error.what());
  }
  Layer layer;
  for (const TomlEntry& entry : entries) {
    const std::string place = path + ":" + std::to_string(entry.line);
    const OptionInfo& option = option_of(entry, run, place);
    std::vector<std::string> texts = texts_of(entry, option, place);
    const std::vector<std::string> words = option.choices();
    for (std::string& value : texts) {
      const bool is_word = std::find(words.begin(), words.end(), value) != words.end();
      const bool is_path = !is_word && (option.takes_file() || option.takes_directory());
      if (is_path && !value.empty()) value = beside(path, value);
    }
    layer[entry.key] = {std::move(texts), place};
  }
  return layer;
}

Layer wanted_config(const std::string& wanted, const CommandInfo& run, std::string& path) {
  path.clear();
  if (wanted == "none") return {};
  if (!wanted.empty()) {
    path = wanted;
  } else {
    std::error_code error;
    const fs::path start = fs::current_path(error);
    const char* home = std::getenv("HOME");
    path = error ? "" : find_config(start.string(), home == nullptr ? "" : home).value_or("");
  }
  return path.empty() ? Layer{} : config_layer(path, read_config(path), run);
}

}  // namespace distrun::cli
