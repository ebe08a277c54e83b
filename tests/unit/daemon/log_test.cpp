// The daemon's log.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <functional>
#include <regex>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/daemon/log.hpp>

namespace distrun::daemon {
namespace {

// Returns what is written to standard error meanwhile; it must fit into a pipe.
std::string written_by(const std::function<void()>& act) {
  base::FdPair pipe = base::make_pipe();
  const base::Fd saved(::dup(STDERR_FILENO));
  ::dup2(pipe.second.get(), STDERR_FILENO);
  act();
  ::dup2(saved.get(), STDERR_FILENO);
  pipe.second.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(pipe.first.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void write_both(const Log& log) {
  log.info("run a: started as process 5");
  log.warn("a run was refused: {} and\nmore");
}

TEST_CASE("a log writes a line with its time for each text, unchanged") {
  const std::string text = written_by([] { write_both(Log::to_stderr(LogLevel::All)); });
  const std::regex line("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\\.[0-9]{3} (info|warning): ([^\n]*)\n");
  std::vector<std::string> told;
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it) told.push_back((*it)[2]);
  REQUIRE(told.size() == 2);
  CHECK(told[0] == "run a: started as process 5");
  CHECK(told[1].starts_with("a run was refused: {} and"));
  CHECK(told[1].ends_with("more"));
}

TEST_CASE("a log of warnings has no informational lines, and a silent one no line") {
  const std::string warnings = written_by([] { write_both(Log::to_stderr(LogLevel::Warnings)); });
  CHECK(warnings.find("info") == std::string::npos);
  CHECK(warnings.find("warning: a run was refused") != std::string::npos);
  CHECK(written_by([] { write_both(Log::to_stderr(LogLevel::Off)); }).empty());
  CHECK(written_by([] { write_both(Log()); }).empty());
}

}  // namespace
}  // namespace distrun::daemon
