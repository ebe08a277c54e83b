#include "man_page.hpp"

#include <algorithm>
#include <cctype>

#include <distrun/common/base/text.hpp>

#include "help_text.hpp"

namespace distrun::cli {
namespace {

// Escapes text for roff: no line is a request, and dashes can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

void add_item(std::string& out, const std::string& term, const std::string& text) {
  out += ".TP\n\\fB" + escaped(term) + "\\fR\n" + escaped(text) + "\n";
}

void add_options(std::string& out, const CommandInfo& command, const std::string& group) {
  for (const OptionInfo& option : command.options) {
    if (option.group == group) add_item(out, signature_of(option), description_of(option));
  }
}

// Formats a line of a section: "term   description" is an item, deeper indentation continues a line, the rest are
// paragraphs.
void add_line(std::string& out, const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return;
  const std::string text = line.substr(begin);
  const std::size_t gap = text.find("  ");
  if (begin > 2) {
    out += escaped(text) + "\n";
  } else if (gap != text.npos) {
    add_item(out, text.substr(0, gap), text.substr(text.find_first_not_of(' ', gap)));
  } else {
    out += ".PP\n" + escaped(text) + "\n";
  }
}

// Adds sections of notes; `macro` begins each.
void add_notes(std::string& out, const std::string& notes, const char* macro) {
  for (const std::string& line : base::split_lines(notes)) {
    if (!line.empty() && line.front() != ' ' && line.back() == ':') {
      const std::string heading = upper(line.substr(0, line.size() - 1));
      out += std::string(macro) + " \"" + (heading == "EXIT CODES" ? "EXIT STATUS" : heading) + "\"\n";
    } else {
      add_line(out, line);
    }
  }
}

void add_command(std::string& out, const CommandInfo& command) {
  out += ".SS \"" + escaped(usage_line(command)) + "\"\n" + escaped(command.description) + "\n";
  for (const std::string& group : groups_of(command)) add_options(out, command, group);
  bool prose = false;  // its lines continue each other
  for (const std::string& line : base::split_lines(command.notes)) {
    const bool is_heading = !line.empty() && line.front() != ' ';
    if (is_heading) {
      prose = line == "Notes:";
      out += ".PP\n\\fI" + escaped(line) + "\\fR\n" + (prose ? ".PP\n" : "");
    } else if (prose && !line.empty()) {
      out += escaped(line.substr(line.find_first_not_of(' '))) + "\n";
    } else {
      add_line(out, line);
    }
  }
}

}  // namespace

std::string man_page(const std::vector<CommandInfo>& commands, const std::string& version) {
  const CommandInfo& run = commands.front();
  std::string out = ".TH DISTRUN 1 \"\" \"distrun " + escaped(version) + "\" \"User Commands\"\n.nh\n.ad l\n";
  out += ".SH NAME\ndistrun \\- run tests that need several ranks\n.SH SYNOPSIS\n";
  for (const CommandInfo& command : commands) {
    const std::string usage = usage_line(command);
    if (&command != &commands.front()) out += ".br\n";
    out += ".B distrun\n" + escaped(usage.substr(usage.find(' ') + 1)) + "\n";
  }
  out += ".SH DESCRIPTION\n" + escaped(run.description) + "\n.SH OPTIONS\n";
  for (const std::string& group : groups_of(run)) {
    out += ".SS \"" + escaped(group) + "\"\n";
    add_options(out, run, group);
  }
  add_notes(out, run.notes, ".SH");
  out += ".SH \"THE OTHER COMMANDS\"\n";
  for (std::size_t i = 1; i < commands.size(); ++i) add_command(out, commands[i]);
  return out + ".SH \"SEE ALSO\"\n.BR gdb (1)\n";
}

}  // namespace distrun::cli
