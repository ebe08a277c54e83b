#include "overrides.hpp"

#include <algorithm>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/runner/plan/filter.hpp>

#include "parsing.hpp"
#include "toml.hpp"

namespace distrun::cli {
namespace {

constexpr int kRetriesMax = 1000;
constexpr char kOption[] = "--overrides";
constexpr char kExample[] = "{filter = \"tag:slow\", timeout = \"5m\"}";

[[noreturn]] void refuse_value(const TomlEntry& entry, const std::string& why) {
  refuse(std::string(kOption) + ": " + entry.key + " " + why);
}

const std::string& one_value(const TomlEntry& entry) {
  if (entry.kind == TomlKind::List || entry.kind == TomlKind::Boolean) refuse_value(entry, "takes one value");
  return entry.values.front();
}

std::vector<std::string> labels(const TomlEntry& entry) {
  const char least = entry.key == "tags" ? '!' : ' ';
  for (const std::string& label : entry.values) {
    const bool is_good =
        !label.empty() && label.size() <= wire::kLabelSizeMax &&
        std::all_of(label.begin(), label.end(), [&](unsigned char c) { return c >= least && c != 0x7f; });
    if (!is_good) refuse_value(entry, "has the invalid value '" + base::one_line(label) + "'");
  }
  if (entry.values.size() > wire::kLabelsMax) {
    refuse_value(entry, "has more than " + std::to_string(wire::kLabelsMax) + " values");
  }
  return entry.values;
}

void set(runner::Override& changes, const TomlEntry& entry) {
  const std::string name = std::string(kOption) + ": " + entry.key;
  if (entry.key == "filter") {
    changes.filter = one_value(entry);
  } else if (entry.key == "timeout") {
    changes.timeout = base::parse_duration(name, one_value(entry));
  } else if (entry.key == "retries") {
    changes.retries = number(name, one_value(entry), 0, kRetriesMax);
  } else if (entry.key == "world-size") {
    changes.world_size = number(name, one_value(entry), 1, wire::kWorldSizeMax);
  } else if (entry.key == "tags") {
    changes.tags = labels(entry);
  } else if (entry.key == "locks") {
    changes.locks = labels(entry);
  } else {
    refuse_value(entry,
                 "is not a setting of tests; expected filter, timeout, retries, tags, locks or world-size" +
                     base::did_you_mean(entry.key, {"filter", "timeout", "retries", "tags", "locks", "world-size"}));
  }
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

}  // namespace distrun::cli
