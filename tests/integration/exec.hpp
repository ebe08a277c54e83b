#pragma once
// Runs `distrun exec` in a sandbox, with its reports.
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "programs.hpp"

namespace distrun::testing {

inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Exec {
 public:
  // Runs a program with its arguments, with `options` for distrun.
  Ended run(std::vector<std::string> options, std::vector<std::string> program) const {
    return sandbox_.run(arguments(std::move(options), program));
  }
  Ended shell(std::vector<std::string> options, const std::string& script) const {
    return run(std::move(options), {"/bin/sh", "-c", script});
  }
  Running start(std::vector<std::string> options, std::vector<std::string> program) const {
    return sandbox_.start(arguments(std::move(options), program));
  }
  // Runs a distrun command while a run is in progress.
  Ended ask(std::vector<std::string> arguments) const {
    Command command = sandbox_.command(std::move(arguments));
    command.capture = sandbox_.output() + "/asked";
    return Running(command).wait(scaled(milliseconds(10'000)));
  }
  const Sandbox& sandbox() const { return sandbox_; }
  TestResult result() const { return sandbox_.summary().tests.at(0); }

 private:
  std::vector<std::string> arguments(std::vector<std::string> options, const std::vector<std::string>& program) const {
    std::vector<std::string> all{"exec", "--output", sandbox_.output()};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), program.begin(), program.end());
    return all;
  }
  Sandbox sandbox_{distrun_program()};
};

}  // namespace distrun::testing
