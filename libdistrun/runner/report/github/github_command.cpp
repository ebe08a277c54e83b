#include <distrun/runner/report/github/github_command.hpp>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

// Applies GitHub's own escapes; in a property, also to the characters that end it.
std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : base::printable(text)) {
    switch (c) {
      case '%': out += "%25"; break;
      case '\r': out += "%0D"; break;
      case '\n': out += "%0A"; break;
      case ':': out += is_property ? "%3A" : ":"; break;
      case ',': out += is_property ? "%2C" : ","; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace

std::string github_command(std::string_view name,
                           const std::vector<std::pair<std::string_view, std::string>>& properties,
                           std::string_view text) {
  std::string line = "::";
  line += name;
  char separator = ' ';
  for (const auto& [key, value] : properties) {
    if (value.empty()) continue;
    line += separator;
    line.append(key).append("=").append(escaped(value, true));
    separator = ',';
  }
  return line + "::" + escaped(text, false) + "\n";
}

std::string github_stop_commands(std::string_view token) { return github_command("stop-commands", {}, token); }

std::string github_resume_commands(std::string_view token) { return github_command(token, {}, ""); }

}  // namespace distrun::report
