#include "option_layers.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include <distrun/common/base/error.hpp>

#include "help/command_info.hpp"
#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kCommandLine[] = "command line";

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

Layer given_in(const CLI::App& app, const char* origin) {
  Layer layer;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !name_of(*option).empty()) layer[name_of(*option)] = {option->results(), origin};
  }
  return layer;
}

Layer options_variable_layer(CLI::App& scratch) {
  const char* text = std::getenv(kOptionsVariable);
  if (text == nullptr) return {};
  std::vector<std::string> words = CLI::detail::split_up(text);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    scratch.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    refuse(std::string(kOptionsVariable) + ": --help is allowed only on the command line");
  } catch (const CLI::ParseError& error) {
    refuse(std::string(kOptionsVariable) + ": " + error.what());
  }
  for (const CLI::Option* option : scratch.get_options()) {
    if (option->count() > 0 && is_for_one_run(name_of(*option))) {
      refuse(std::string(kOptionsVariable) + ": --" + name_of(*option) + " is allowed only on the command line");
    }
    if (option->get_positional() && option->count() > 0) {
      refuse(std::string(kOptionsVariable) + ": only options are allowed, not " + option->results().front());
    }
  }
  return given_in(scratch, kOptionsVariable);
}

// Treats an empty variable as unset.
std::optional<std::string> set_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

// Bazel counts shards from 0.
std::string shard_text(const std::string& index, const std::string& count) {
  int number = 0;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), number);
  const bool is_number = error == std::errc() && end == index.data() + index.size();
  return (is_number ? std::to_string(std::int64_t{number} + 1) : index) + "/" + count;
}

// The variables by which Bazel, and builders that follow it, tell a test program what to run.
void add_bazel(Layer& layer) {
  const auto index = set_variable("TEST_SHARD_INDEX");
  const auto count = set_variable("TEST_TOTAL_SHARDS");
  if (index && count) layer.insert({"shard", {{shard_text(*index, *count)}, "TEST_SHARD_INDEX"}});
  if (const auto file = set_variable("XML_OUTPUT_FILE")) layer.insert({"junit", {{*file}, "XML_OUTPUT_FILE"}});
  if (const auto filter = set_variable("TESTBRIDGE_TEST_ONLY")) {
    layer.insert({"filter", {{*filter}, "TESTBRIDGE_TEST_ONLY"}});
  }
}

}  // namespace

bool is_for_one_run(const std::string& name) {
  return name == "rerun-failed" || name == "debug" || name == "stress" || name == "print-config" ||
         name == "print-config-schema" || name == "version";
}

Origins command_line_origins(const CLI::App& app) {
  Origins origins;
  for (const auto& [name, value] : given_in(app, kCommandLine)) origins[name] = value.origin;
  return origins;
}

bool is_typed(const Origins& origins, const std::string& name) {
  const auto found = origins.find(name);
  return found != origins.end() && found->second == kCommandLine;
}

void fill_in(CLI::App& app, const Layer& layer, Origins& origins) {
  for (const auto& [name, value] : layer) {
    CLI::Option* option = app.get_option_no_throw("--" + name);
    if (option == nullptr || option->count() > 0 || value.texts.empty()) continue;
    try {
      for (const std::string& text : value.texts) option->add_result(text);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      refuse(value.origin + ": --" + name + ": " + error.what());
    }
    origins[name] = value.origin;
  }
}

Layer environment_layer(CLI::App& scratch) {
  Layer layer = options_variable_layer(scratch);
  if (const char* timeout = std::getenv(kTimeoutVariable)) layer.insert({"timeout", {{timeout}, kTimeoutVariable}});
  if (const auto history = set_variable(kHistoryVariable)) layer.insert({"history", {{*history}, kHistoryVariable}});
  if (const auto daemon = set_variable(kDaemonVariable)) {
    layer.insert({"daemon", {{*daemon == "0" ? "false" : "true"}, kDaemonVariable}});
  }
  add_bazel(layer);
  return layer;
}

void add_origin(base::Error& error, const Origins& origins) {
  if (!error.text().starts_with("--")) return;
  const std::string name = error.text().substr(2, error.text().find_first_of(" :=", 2) - 2);
  const auto found = origins.find(name);
  if (found != origins.end() && found->second != kCommandLine) error.while_doing(found->second);
}

}  // namespace distrun::cli
