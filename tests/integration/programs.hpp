#pragma once
// Where the programs under test and the fixtures are. The build says so.
#include <string>

#include "support/sandbox.hpp"

namespace distrun::testing {

// What distrun exits with.
inline constexpr int kUsage = 2, kInfraError = 3, kInterrupted = 130;

inline std::string distrun_program() { return DISTRUN_BIN; }

// The path of the fixture plugin of that name.
inline std::string plugin(const std::string& name) {
  return std::string(DISTRUN_PLUGIN_DIR) + "/fixture_" + name + ".so";
}

// What scripts/validate-reports says against all that is in output(); empty: nothing, or it cannot be run here.
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
