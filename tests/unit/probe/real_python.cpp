#include "real_python.hpp"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "python/layout.hpp"
#include "support/sandbox.hpp"

namespace distrun::testing {
namespace {

std::vector<std::string> matching(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

std::vector<Python> find_pythons() {
  std::vector<std::string> paths = matching("/usr/bin/python3.[0-9]*");
  const char* home = ::getenv("HOME");
  for (std::string& path :
       matching((home != nullptr ? home : "/root") + std::string("/.pyenv/versions/*/bin/python3.[0-9]*"))) {
    paths.push_back(std::move(path));
  }
  std::vector<Python> found;
  for (const std::string& path : paths) {
    if (path.ends_with("config")) continue;
    const probe::python::Version version = probe::python::version_in_name(path.substr(path.rfind('/') + 1));
    if (probe::python::find_layout(version) != nullptr) found.push_back({path, version.minor});
  }
  return found;
}

std::string write(const Scratch& scratch, const std::string& name, const std::string& script) {
  const std::string path = scratch.path() + "/" + name;
  std::ofstream(path) << script;
  return path;
}

}  // namespace

const std::vector<Python>& pythons() {
  static const std::vector<Python> found = find_pythons();
  return found;
}

PythonProgram::PythonProgram(const Python& python, const std::string& script, const std::string& name)
    : running_({.program = python.program,
                .arguments = {"-u", write(scratch_, name, script)},
                .environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"},
                .capture = scratch_.path() + "/said"}) {
  const auto is_ready = [&] {
    std::ifstream said(scratch_.path() + "/said.out");
    std::string line;
    return std::getline(said, line) && line == "ready";
  };
  if (!eventually(scaled(milliseconds(20'000)), is_ready)) throw std::runtime_error("the script is not ready in time");
}

ProbeReply PythonProgram::ask() const {
  wire::ProbeOrder order;
  order.pids = {pid()};
  order.descendants = 8;
  return ask_probe(order, scaled(milliseconds(10'000)));
}

std::vector<std::string> python_lines(const ProbeReply& reply, const wire::ThreadStack& thread) {
  std::vector<std::string> lines;
  for (const std::uint32_t index : thread.frames) {
    const wire::StackFrame& frame = reply.frames.at(index);
    if (frame.module != wire::kPythonModule) continue;
    lines.push_back(frame.function + " " + frame.file.substr(frame.file.rfind('/') + 1) + ":" +
                    std::to_string(frame.line));
  }
  return lines;
}

const wire::ThreadStack& thread_with(const ProbeReply& reply, const std::string& line) {
  for (const auto& [index, process] : reply.processes) {
    for (const wire::ThreadStack& thread : process.threads) {
      const std::vector<std::string> lines = python_lines(reply, thread);
      if (std::find(lines.begin(), lines.end(), line) != lines.end()) return thread;
    }
  }
  return reply.processes.at(0).threads.front();
}

}  // namespace distrun::testing
