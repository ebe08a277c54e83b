#include "parsing.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include <distrun/base/error.hpp>
#include <distrun/base/text.hpp>

namespace distrun::cli {

void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, base::one_line(text, 400)); }

std::string one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  refuse(option + " " + text + ": unknown; it is one of " + list);
}

ColorChoice color_of(const std::string& text) {
  one_of("--color", text, {"auto", "always", "never"});
  return text == "always" ? ColorChoice::Always : text == "never" ? ColorChoice::Never : ColorChoice::Auto;
}

bool parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return false;
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  return true;
}

}  // namespace distrun::cli
