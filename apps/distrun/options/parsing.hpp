#pragma once
// What every command's arguments are read with. Refusals are Error{InvalidArgument} with a text for the user.
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

// The arguments of a command; or the wish to be told what it takes, which is what help and completion are made from.
struct Arguments {
  Arguments(std::vector<std::string> given) : words(std::move(given)) {}  // NOLINT(google-explicit-constructor)
  explicit Arguments(CommandInfo& into) : described(&into) {}

  std::vector<std::string> words;
  CommandInfo* described = nullptr;
};

// What the user typed is shown without what a terminal would obey.
[[noreturn]] void refuse(const std::string& text);

template <class T>
T number(const std::string& option, const std::string& text, T low, T high) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) {
    std::ostringstream message;
    message << option << ' ' << text << ": a number from " << low << " to " << high << " is wanted";
    refuse(message.str());
  }
  return value;
}

std::string one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices);
// The same with choices as they stand in help: "auto|always|never".
std::string one_of(const std::string& option, const std::string& text, const char* choices);
ColorChoice color_of(const std::string& text);
// Of --env: each KEY=VALUE.
std::vector<wire::KeyValue> environment_of(const std::vector<std::string>& texts);

inline constexpr char kColors[] = "auto|always|never";

// Parses with a CLI11 app. False if help was printed, or the command was described.
bool parse(CLI::App& app, const Arguments& arguments);

CommandLine parse_run(const Arguments& arguments);
CommandLine parse_exec(const Arguments& arguments);
CommandLine parse_list(const Arguments& arguments);
CommandLine parse_show(const Arguments& arguments);
// Of the commands that look at what runs: ps, stacks, attach, cancel.
CommandLine parse_ps(const Arguments& arguments);
CommandLine parse_stacks(const Arguments& arguments);
CommandLine parse_attach(const Arguments& arguments);
CommandLine parse_cancel(const Arguments& arguments);
// Of the one that looks back.
CommandLine parse_history(const Arguments& arguments);

}  // namespace distrun::cli
