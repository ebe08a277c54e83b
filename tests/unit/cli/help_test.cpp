// Texts generated from the description of the commands: help, the man page, the text of the settings.
#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>

#include "help/help_text.hpp"
#include "help/man_page.hpp"
#include "options/command_line.hpp"

using namespace distrun;
using namespace distrun::cli;
using Catch::Contains;

TEST_CASE("help fits into a hundred columns") {
  for (const CommandInfo& command : describe_commands()) {
    for (const std::string& line : base::split_lines(help_text(command))) {
      INFO(command.name << ": " << line);
      CHECK(line.size() <= 100);
    }
  }
}

TEST_CASE("help names every option under a heading, with its default") {
  const CommandInfo run = describe_commands().front();
  const std::string text = help_text(run);
  for (const OptionInfo& option : run.options) CHECK_THAT(text, Contains("  " + signature_of(option)));
  for (const std::string& group : groups_of(run)) CHECK_THAT(text, Contains("\n" + group + ":\n"));
  CHECK_THAT(text, Contains("(default shm)"));
}

TEST_CASE("every option is described, and options with a list of values name them") {
  for (const CommandInfo& command : describe_commands()) {
    for (const OptionInfo& option : command.options) {
      INFO(command.name << " " << signature_of(option));
      CHECK_FALSE(option.description.empty());
      const std::vector<std::string> choices = option.choices();
      const bool has_default = !option.default_value.empty() && !choices.empty();
      if (has_default) CHECK(std::find(choices.begin(), choices.end(), option.default_value) != choices.end());
    }
  }
}

TEST_CASE("the man page names every command and every option") {
  const std::vector<CommandInfo> commands = describe_commands();
  const std::string page = man_page(commands, "1.2.3");
  CHECK_THAT(page, Catch::StartsWith(".TH DISTRUN 1 \"\" \"distrun 1.2.3\""));
  for (const CommandInfo& command : commands) {
    for (const OptionInfo& option : command.options) {
      if (option.positional()) continue;
      std::string name = option.names.back();
      for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, "\\");
      CHECK_THAT(page, Contains(name));
    }
  }
  for (const char* heading : {"NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"}) {
    CHECK_THAT(page, Contains(heading));
  }
}

TEST_CASE("no text of an option becomes a request to the formatter") {
  CommandInfo run;
  run.name = "x";
  run.description = ".so /etc/passwd";
  run.options = {{{"--a"}, "", "'\\fB .ex", "Options", "", false, false}};
  run.notes = "\nFiles:\n  .hidden    'quoted\\\n";
  const std::string page = man_page({run}, "1");
  CHECK_THAT(page, Contains("\n\\&.so /etc/passwd\n"));
  CHECK_THAT(page, Contains("\n\\&'\\efB .ex\n"));
  CHECK_THAT(page, Contains("\\&.hidden") && Contains("\n\\&'quoted\\e\n"));
}
