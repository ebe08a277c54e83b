#include "overrides.hpp"

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/label.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/runner/plan/filter.hpp>

#include "parsing.hpp"
#include "repetition_options.hpp"
#include "toml.hpp"

namespace distrun::cli {
namespace {

constexpr char kOption[] = "--overrides";
constexpr char kExample[] = "{filter = \"tag:slow\", timeout = \"5m\"}";

[[noreturn]] void refuse_value(const TomlEntry& entry, const std::string& why) {
  refuse(std::string(kOption) + ": " + entry.key + " " + why);
}

void refuse_flaw(const std::string& flaw) {
  if (!flaw.empty()) refuse(std::string(kOption) + ": " + flaw);
}

const std::string& one_value(const TomlEntry& entry) {
  if (entry.kind == TomlKind::List || entry.kind == TomlKind::Boolean) refuse_value(entry, "takes one value");
  return entry.values.front();
}

struct Setting {
  std::string key;
  void (*set)(runner::Override& changes, const TomlEntry& entry, const std::string& name);  // "--overrides: timeout"
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {"filter", [](auto& changes, const auto& entry, const auto&) { changes.filter = one_value(entry); }},
      {"timeout", [](auto& changes, const auto& entry,
                     const auto& name) { changes.timeout = base::parse_duration(name, one_value(entry)); }},
      {"retries", [](auto& changes, const auto& entry,
                     const auto& name) { changes.retries = number(name, one_value(entry), 0, kRetriesMax); }},
      {"tags",
       [](auto& changes, const auto& entry, const auto&) {
         refuse_flaw(base::flaw_of_tags(entry.values));
         changes.tags = entry.values;
       }},
      {"locks",
       [](auto& changes, const auto& entry, const auto&) {
         refuse_flaw(base::flaw_of_locks(entry.values));
         changes.locks = entry.values;
       }},
      {"world-size", [](auto& changes, const auto& entry, const auto& name) {
         changes.world_size = number(name, one_value(entry), 1, wire::kWorldSizeMax);
       }}};
  return all;
}

void set(runner::Override& changes, const TomlEntry& entry) {
  std::vector<std::string> keys;
  for (const Setting& each : settings()) {
    if (each.key == entry.key) return each.set(changes, entry, std::string(kOption) + ": " + entry.key);
    keys.push_back(each.key);
  }
  refuse_value(entry,
               "is not a setting of tests; expected " + base::joined_by_or(keys) + base::did_you_mean(entry.key, keys));
}

std::vector<TomlEntry> entries_of(const std::string& text) {
  try {
    return read_toml_table(text);
  } catch (const Error&) {
    refuse(std::string(kOption) + " " + base::one_line(text) + ": expected an inline table of TOML, as in " + kExample);
  }
}

}  // namespace

runner::Override parse_override(const std::string& text) {
  runner::Override changes;
  const std::vector<TomlEntry> entries = entries_of(text);
  for (const TomlEntry& entry : entries) set(changes, entry);
  if (changes.filter.empty() || entries.size() < 2) {
    refuse(std::string(kOption) + " " + base::one_line(text) + ": expected a filter and at least one setting, as in " +
           kExample);
  }
  [[maybe_unused]] const runner::Filter refuses_now({changes.filter});
  return changes;
}

std::vector<std::string> override_keys() {
  std::vector<std::string> keys;
  for (const Setting& setting : settings()) keys.push_back(setting.key);
  return keys;
}

}  // namespace distrun::cli
