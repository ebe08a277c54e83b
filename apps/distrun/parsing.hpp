#pragma once
// What every command's arguments are read with. Refusals are Error{InvalidArgument} with a text for the user.
#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "options.hpp"

namespace CLI {
class App;
}

namespace distrun::cli {

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
ColorChoice color_of(const std::string& text);

// Parses with a CLI11 app. False if help was printed.
bool parse(CLI::App& app, std::vector<std::string> arguments);

// Of the commands that look at what runs: ps, stacks, attach, cancel.
CommandLine parse_ps(const std::vector<std::string>& arguments);
CommandLine parse_stacks(const std::vector<std::string>& arguments);
CommandLine parse_attach(const std::vector<std::string>& arguments);
CommandLine parse_cancel(const std::vector<std::string>& arguments);

}  // namespace distrun::cli
