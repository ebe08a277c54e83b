#pragma once
// Tools to parse the arguments of all commands. Refusals are Error{InvalidArgument} with a text for the user.
#include <charconv>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "help/command_info.hpp"
#include "options.hpp"

namespace CLI {
class App;
}

namespace distrun::cli {

// The arguments of a command; or a request to describe the command, for help and completion.
struct Arguments {
  Arguments(std::vector<std::string> given) : words(std::move(given)) {}  // NOLINT(google-explicit-constructor)
  explicit Arguments(CommandInfo& into) : described(&into) {}

  std::vector<std::string> words;
  CommandInfo* described = nullptr;
};

// Throws with `text`, in which terminal control characters of user input are escaped.
[[noreturn]] void refuse(const std::string& text);

// `or_else` names what else the option accepts: " or auto".
template <class T>
T number(const std::string& option, const std::string& text, T low, T high, const char* or_else = "") {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) {
    std::ostringstream message;
    message << option << ' ' << text << ": expected a number from " << low << " to " << high << or_else;
    refuse(message.str());
  }
  return value;
}

std::string one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices);
// The same with choices as written in the help: "auto|always|never".
std::string one_of(const std::string& option, const std::string& text, const char* choices);
// Returns zero for "0", which means never.
base::Nanoseconds time_or_never(const char* option, const std::string& text);
ColorChoice color_of(const std::string& text);
// Parses the values of --env, each KEY=VALUE.
std::vector<wire::KeyValue> environment_of(const std::vector<std::string>& texts);
// Reads the values of --lock-limit.
std::vector<runner::LockLimit> lock_limits_of(const std::vector<std::string>& texts);

inline constexpr char kColors[] = "auto|always|never";

// Parses with a CLI11 app. Returns false if help was printed, or the command was described.
bool parse(CLI::App& app, const Arguments& arguments);

CommandLine parse_run(const Arguments& arguments);
CommandLine parse_exec(const Arguments& arguments);
CommandLine parse_list(const Arguments& arguments);
CommandLine parse_show(const Arguments& arguments);
// Commands that inspect running tests: ps, stacks, doctor, attach, cancel.
CommandLine parse_ps(const Arguments& arguments);
CommandLine parse_stacks(const Arguments& arguments);
CommandLine parse_doctor(const Arguments& given);
CommandLine parse_attach(const Arguments& arguments);
CommandLine parse_cancel(const Arguments& arguments);
// The command that shows earlier runs.
CommandLine parse_history(const Arguments& arguments);
CommandLine parse_node(const Arguments& arguments);  // which launchers start

}  // namespace distrun::cli
