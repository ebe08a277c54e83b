#include <catch2/catch.hpp>

#include <unistd.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/log.hpp>

using distrun::base::Log;

TEST_CASE("a log without a sink is silent") {
  const Log log;
  CHECK_FALSE(log.enabled());
  log.debug("nobody hears this");
}

TEST_CASE("a log writes its name, its process and the text as one line to stderr") {
  distrun::base::FdPair pipe = distrun::base::make_pipe();
  const distrun::base::Fd saved(::dup(STDERR_FILENO));
  ::dup2(pipe.second.get(), STDERR_FILENO);
  const Log log = Log::to_stderr("distrun");
  const Log copy = log;
  copy.debug("rank {} started");
  ::dup2(saved.get(), STDERR_FILENO);
  char buffer[256];
  const ssize_t got = ::read(pipe.first.get(), buffer, sizeof buffer);
  REQUIRE(got > 0);
  const std::string line(buffer, static_cast<std::size_t>(got));
  CHECK(log.enabled());
  CHECK(line.rfind("distrun[" + std::to_string(::getpid()) + "] debug ", 0) == 0);
  CHECK(line.find(": rank {} started\n") != std::string::npos);
}
