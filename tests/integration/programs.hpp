#pragma once
// Paths of the programs under test and of the fixtures, set by the build.
#include <string>

#include <catch2/catch.hpp>

#include "support/sandbox.hpp"
#include "support/terminal_session.hpp"

namespace distrun::testing {

// Exit codes of distrun.
inline constexpr int kUsage = 2, kInfraError = 3, kInterrupted = 130;

inline std::string distrun_program() { return DISTRUN_BIN; }

// Returns the path of the fixture plugin of that name.
inline std::string plugin(const std::string& name) {
  return std::string(DISTRUN_PLUGIN_DIR) + "/fixture_" + name + ".so";
}

// Starts a program on a terminal and answers its question "... [y/N] ". `question` receives the program's output.
inline Ended answered(const Command& command, const std::string& answer, std::string& question) {
  constexpr milliseconds kSoon{30'000};
  TerminalSession terminal(command);
  REQUIRE(eventually(scaled(kSoon), [&] {
    question += terminal.read_some();
    return question.find("[y/N] ") != std::string::npos;
  }));
  terminal.type(answer);
  return terminal.wait(scaled(kSoon));
}

// Returns the number of occurrences of `part` in `text`.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Returns the complaints of scripts/validate-reports about output(); empty: no complaint, or it cannot be run here.
inline std::string wrong_with_reports(const Sandbox& sandbox) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in(sandbox.output())) paths.push_back(sandbox.output() + "/" + name);
  Command command = sandbox.command(paths);
  command.program = DISTRUN_VALIDATE_REPORTS;
  const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
  constexpr int kCannotValidate = 2;
  if (ended.exit_code == 0 || ended.exit_code == kCannotValidate) return "";
  return ended.out + ended.err;
}

}  // namespace distrun::testing
