#include "config_schema.hpp"

#include <algorithm>

#include <distrun/runner/report/json/json_writer.hpp>

#include "config_file.hpp"
#include "overrides.hpp"

namespace distrun::cli {
namespace {

using report::JsonWriter;

void write_types(JsonWriter& out, const std::vector<const char*>& types) {
  out.key("type");
  if (types.size() == 1) return out.value(types.front());
  out.begin_array();
  for (const char* type : types) out.value(type);
  out.end_array();
}

void write_list_of(JsonWriter& out, const std::vector<const char*>& types) {
  out.field("type", "array");
  out.key("items");
  out.begin_object();
  write_types(out, types);
  out.end_object();
}

// A value or a list of values.
void write_one_or_many(JsonWriter& out, const std::vector<const char*>& types) {
  out.key("anyOf");
  out.begin_array();
  out.begin_object();
  write_types(out, types);
  out.end_object();
  out.begin_object();
  write_list_of(out, types);
  out.end_object();
  out.end_array();
}

void write_overrides(JsonWriter& out) {
  out.field("type", "array");
  out.key("items");
  out.begin_object();
  out.field("type", "object");
  out.field("additionalProperties", false);
  out.key("required");
  out.begin_array();
  out.value("filter");
  out.end_array();
  out.key("properties");
  out.begin_object();
  for (const std::string& key : override_keys()) {
    out.key(key);
    out.begin_object();
    const bool is_list = key == "tags" || key == "locks";
    is_list ? write_list_of(out, {"string"}) : write_types(out, {"string", "number"});
    out.end_object();
  }
  out.end_object();
  out.end_object();
}

bool has_only_choices(const OptionInfo& option) {
  const std::vector<std::string> words = split_choices(option.value);
  return words.size() > 1 && option.choices().size() == words.size();
}

void write_value(JsonWriter& out, const OptionInfo& option) {
  if (option.long_name() == "overrides") return write_overrides(out);
  if (option.value.empty()) return write_types(out, {"boolean"});
  if (option.is_flag()) return write_types(out, {"boolean", "string", "number"});
  if (option.repeats) return write_one_or_many(out, {"string", "number"});
  if (!has_only_choices(option)) return write_types(out, {"string", "number"});
  out.key("enum");
  out.begin_array();
  for (const std::string& word : option.choices()) out.value(word);
  out.end_array();
}

}  // namespace

std::string config_schema(const CommandInfo& run) {
  JsonWriter out(JsonWriter::Layout::Pretty);
  out.begin_object();
  out.field("$schema", "https://json-schema.org/draft/2020-12/schema");
  out.field("title", "Settings of distrun (.distrun.toml)");
  out.field("type", "object");
  out.field("additionalProperties", false);
  out.key("properties");
  out.begin_object();
  for (const OptionInfo& option : run.options) {
    if (!may_stand_in_config(option)) continue;
    out.key(option.long_name());
    out.begin_object();
    out.field("description", option.description);
    write_value(out, option);
    out.end_object();
  }
  out.end_object();
  out.end_object();
  out.end_line();
  return out.take();
}

}  // namespace distrun::cli
