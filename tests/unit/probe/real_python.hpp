#pragma once
// Python programs as real processes, on every Python of this machine: Debian's, and those of pyenv.
#include <string>
#include <vector>

#include "support/probe_client.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"

namespace distrun::testing {

struct Python {
  std::string program;
  int minor = 0;  // of 3.x
};

// Returns those of the versions that are read. Never empty where Debian's packages are installed.
const std::vector<Python>& pythons();

// A script that is running. It says "ready" when it is where it is wanted.
class PythonProgram {
 public:
  // `name` is that of the script's file.
  PythonProgram(const Python& python, const std::string& script, const std::string& name = "script.py");

  pid_t pid() const { return running_.pid(); }
  ProbeReply ask() const;

 private:
  Scratch scratch_;
  Running running_;
};

// Returns "function file:line" of the frames that are Python's, innermost first, without the folder of the file.
std::vector<std::string> python_lines(const ProbeReply& reply, const wire::ThreadStack& thread);

// Returns the thread that has such a line; else the first of all.
const wire::ThreadStack& thread_with(const ProbeReply& reply, const std::string& line);

}  // namespace distrun::testing
