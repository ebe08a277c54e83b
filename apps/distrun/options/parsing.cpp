#include "parsing.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

#include "help/help_text.hpp"
#include "nearest.hpp"

namespace distrun::cli {
namespace {

// For the first option that is none.
std::string hint(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const OptionInfo& option : info_of(app).options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name.starts_with("--") && app.get_option_no_throw(name) == nullptr) return did_you_mean(name, known);
  }
  return "";
}

}  // namespace

void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, base::one_line(text, 400)); }

std::string one_of(const std::string& option, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  refuse(option + " " + text + ": unknown; it is one of " + list);
}

std::string one_of(const std::string& option, const std::string& text, const char* choices) {
  return one_of(option, text, split_choices(choices));
}

ColorChoice color_of(const std::string& text) {
  one_of("--color", text, kColors);
  return text == "always" ? ColorChoice::Always : text == "never" ? ColorChoice::Never : ColorChoice::Auto;
}

std::vector<wire::KeyValue> environment_of(const std::vector<std::string>& texts) {
  std::vector<wire::KeyValue> variables;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) refuse("--env " + text + ": KEY=VALUE is wanted");
    variables.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return variables;
}

bool parse(CLI::App& app, const Arguments& arguments) {
  app.get_help_ptr()->description("Print this text");
  if (arguments.described != nullptr) {
    *arguments.described = info_of(app);
    return false;
  }
  std::vector<std::string> words = arguments.words;
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    std::cout << help_text(info_of(app));
    return false;
  } catch (const CLI::CallForVersion& error) {
    std::cout << error.what() << "\n";
    return false;
  } catch (const CLI::ExtrasError& error) {
    refuse(error.what() + hint(app, arguments.words));
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  return true;
}

}  // namespace distrun::cli
