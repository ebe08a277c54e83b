#include <catch2/catch.hpp>

#include <signal.h>

#include <filesystem>
#include <fstream>

#include <distrun/runner/attempt/core_file.hpp>

#include "support/scratch.hpp"

using namespace distrun;
using namespace std::chrono_literals;
using runner::describe_core;

namespace {

void write(const std::string& path) { std::ofstream(path) << "core"; }

}  // namespace

TEST_CASE("a core file is found by its pattern and the rank's pid") {
  const testing::Scratch folder;
  const std::string& here = folder.path();
  for (const char* name : {"core", "core.4711", "core.4712", "train-4711-99-host"}) write(here + "/" + name);
  CHECK(describe_core({"core", true}, here, 4711, 1h) == here + "/core.4711");
  CHECK(describe_core({"core", false}, here, 4711, 1h) == here + "/core");
  CHECK(describe_core({"core.%p", true}, here, 4712, 1h) == here + "/core.4712");
  CHECK(describe_core({"%e-%p-%t-%h", false}, here, 4711, 1h) == here + "/train-4711-99-host");
  CHECK(describe_core({here + "/core.%p", false}, "/elsewhere", 4711, 1h) == here + "/core.4711");
}

TEST_CASE("a core file of an earlier crash, of another process or of no process is not named") {
  const testing::Scratch folder;
  const std::string& here = folder.path();
  const std::string none = "none in " + here + " (core_pattern: ";
  write(here + "/core");
  write(here + "/core.1");
  std::filesystem::last_write_time(here + "/core", std::filesystem::file_time_type::clock::now() - 1h);
  CHECK(describe_core({"core", false}, here, 4711, 1min) == none + "core)");
  CHECK(describe_core({"core.%p", false}, here, 4711, 1h) == none + "core.%p)");
  std::filesystem::create_directory(here + "/core.4711");
  CHECK(describe_core({"core.%p", false}, here, 4711, 1h) == none + "core.%p)");
}

TEST_CASE("a core that is piped to a program is shown by its command, or said to be there") {
  CHECK(describe_core({"|/lib/systemd/systemd-coredump %P %u", false}, "/", 4711, 1h) == "coredumpctl debug 4711");
  CHECK(describe_core({"|/usr/share/apport/apport %p", false}, "/", 4711, 1h) ==
        "given to another program, as /proc/sys/kernel/core_pattern says: |/usr/share/apport/apport %p");
  CHECK(describe_core({"", false}, "/", 4711, 1h) == "none: /proc/sys/kernel/core_pattern is empty");
}

TEST_CASE("only ranks that were ended by a crash have a core") {
  runner::RankRecord rank;
  rank.outcome.kind = runner::OutcomeKind::Signaled;
  rank.signal = SIGSEGV;
  CHECK(runner::may_have_core(rank));
  rank.signal = SIGKILL;
  CHECK_FALSE(runner::may_have_core(rank));
  rank.signal = SIGABRT;
  rank.outcome.kind = runner::OutcomeKind::KilledByUs;
  CHECK_FALSE(runner::may_have_core(rank));
}
