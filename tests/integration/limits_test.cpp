// When a resource limit is reached, distrun prints a message that names it, writes a complete summary and reports an
// infra-error. It never crashes.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
namespace fs = std::filesystem;

const std::vector<std::string> kIsolations{"process", "exec", "pool", "threads"};

// Runs distrun with limits as prlimit(1) takes them ("--nofile=64").
Ended run_limited(const Sandbox& sandbox, const std::vector<std::string>& limits, std::vector<std::string> arguments) {
  Command command = sandbox.command({});
  command.program = "/usr/bin/prlimit";
  command.arguments = limits;
  command.arguments.push_back("--");
  command.arguments.push_back(distrun_program());
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return Running(command).wait(scaled(milliseconds(60'000)));
}

std::vector<std::string> run_of(const Sandbox& sandbox, const std::string& isolation, const std::string& ranks,
                                const std::string& test = "Passes.trivial") {
  return {"--output", sandbox.output(), "--isolation", isolation,       "--world-size",
          ranks,      "--filter",       test,          plugin("passes")};
}

void expect_infra_error(const Sandbox& sandbox, const Ended& ended, const std::string& text) {
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 1);
  CHECK(summary.tests[0].verdict == "infra-error");
  CHECK_THAT(summary.tests[0].message, Contains(text));
  CHECK(wrong_with_reports(sandbox).empty());
  CHECK(sandbox.processes().empty());
}

}  // namespace

TEST_CASE("too few descriptors for the ranks are reported with the number that would be enough", "[limits]") {
  for (const std::string& isolation : kIsolations) {
    const Sandbox sandbox(distrun_program());
    INFO(isolation);
    const bool one_process = isolation == "threads";
    const std::string limit = one_process ? "--nofile=32" : "--nofile=100";
    const Ended ended = run_limited(sandbox, {limit}, run_of(sandbox, isolation, "40"));
    expect_infra_error(sandbox, ended, "the limit of open files is");
    std::smatch wanted;
    REQUIRE(std::regex_search(ended.out, wanted, std::regex("ulimit -n ([0-9]+)")));
    const Ended enough = run_limited(sandbox, {"--nofile=" + wanted[1].str()}, run_of(sandbox, isolation, "40"));
    INFO(enough.out << enough.err);
    CHECK(enough.exit_code == 0);
  }
}

// Four ranks use 44 descriptors, and reading the stacks of a hang takes a few more.
TEST_CASE("four ranks work with sixty descriptors, and show where they hang", "[limits]") {
  for (const std::string& isolation : kIsolations) {
    const Sandbox sandbox(distrun_program());
    const Ended ended = run_limited(sandbox, {"--nofile=60"}, run_of(sandbox, isolation, "4"));
    INFO(isolation << ": " << ended.out << ended.err);
    CHECK(ended.exit_code == 0);
  }
  const Sandbox sandbox(distrun_program());
  const Ended hang = run_limited(sandbox, {"--nofile=60"},
                                 {"run", "--output", sandbox.output(), "--world-size", "4", "--timeout", "1s",
                                  "--filter", "Hangs.all_sleep", plugin("hangs")});
  INFO(hang.out << hang.err);
  CHECK(hang.exit_code == 1);
  CHECK_THAT(hang.out, Contains("hangs.cpp"));
}

TEST_CASE("a soft limit of descriptors is raised for the coordinator, and ranks keep the user's", "[limits]") {
  const Sandbox sandbox(distrun_program());
  const Ended run = run_limited(sandbox, {"--nofile=40:4096"}, run_of(sandbox, "process", "40"));
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  const Ended exec = run_limited(sandbox, {"--nofile=40:4096"},
                                 {"exec", "--world-size", "20", "--", "/bin/sh", "-c", "echo soft $(ulimit -Sn)"});
  CHECK(exec.exit_code == 0);
  CHECK_THAT(exec.out, Contains("soft 40\n"));
  CHECK_THAT(exec.out, !Contains("soft 4096"));
}

TEST_CASE("programs and lists without enough descriptors fail with a sentence, too", "[limits]") {
  const Sandbox sandbox(distrun_program());
  const Ended exec = run_limited(sandbox, {"--nofile=100"},
                                 {"exec", "--output", sandbox.output(), "--world-size", "40", "--", "/bin/true"});
  expect_infra_error(sandbox, exec, "the limit of open files is 100");
  for (const std::string limit : {"8", "16", "20", "24"}) {
    const Ended list = run_limited(sandbox, {"--nofile=" + limit}, {"list", plugin("passes")});
    INFO(limit << ": " << list.out << list.err);
    CHECK(list.signal == 0);
    if (list.exit_code == 0) continue;
    CHECK(list.exit_code == kInfraError);
    CHECK_THAT(list.err, Contains("the limit of open files is " + limit));
  }
}

TEST_CASE("a limit of file size is reported by every part that it stops", "[limits]") {
  for (const std::string& isolation : kIsolations) {
    const Sandbox sandbox(distrun_program());
    INFO(isolation);
    const Ended ended = run_limited(sandbox, {"--fsize=100000"}, run_of(sandbox, isolation, "4"));
    expect_infra_error(sandbox, ended, "the limit of file size is 98 KiB (RLIMIT_FSIZE)");
  }
  // The test reads distrun's messages from a file, too: the limit allows those and denies the summary.
  const Sandbox sandbox(distrun_program());
  const std::string json = sandbox.output() + "/summary.json";
  const Ended exec = run_limited(sandbox, {"--fsize=2048"}, {"exec", "--json", json, "--", "/bin/true"});
  INFO(exec.out << exec.err);
  CHECK(exec.exit_code == kInfraError);
  CHECK_THAT(exec.err, Contains("cannot write " + json +
                                ": File too large (EFBIG); the limit of file size is 2 KiB (RLIMIT_FSIZE); raise it, "
                                "for example with ulimit -f"));
  CHECK_FALSE(exists(json));
  // The thread sanitizer writes a file before main(), which kills it.
  if (DISTRUN_SANITIZED_THREADS == 0) {
    const Ended none = run_limited(sandbox, {"--fsize=0"}, run_of(sandbox, "process", "4"));
    CHECK(none.exit_code == kInfraError);
  }
}

TEST_CASE("a limit of the user's processes is reported, wherever it is reached", "[limits]") {
  skip_case_if(::geteuid() != 0,
               "a limit of processes counts all of this user's processes, and only root can run as another");
  constexpr char kNobody[] = "61234";  // a user without processes
  for (const std::string& isolation : kIsolations) {
    for (const std::string limit : {"1", "2", "3", "5", "8", "11"}) {
      INFO(isolation << ", " << limit << " processes");
      const Sandbox sandbox(distrun_program());
      for (const std::string& place : {sandbox.temp(), sandbox.start_directory(), sandbox.output()}) {
        fs::permissions(place, fs::perms::all);
      }
      fs::permissions(fs::path(sandbox.temp()).parent_path(), fs::perms::all);
      Command command = sandbox.command({});
      command.program = "/usr/bin/setpriv";
      command.arguments = {"--reuid",          kNobody, "--regid",        kNobody, "--clear-groups", "prlimit",
                           "--nproc=" + limit, "--",    distrun_program()};
      // Ranks that meet; otherwise the first may exit before the last begins, and few processes suffice.
      for (const std::string& word : run_of(sandbox, isolation, "8", "Passes.barriers")) {
        command.arguments.push_back(word);
      }
      const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
      INFO(ended.out << ended.err);
      CHECK_FALSE(ended.out_of_time);
      CHECK(ended.exit_code == kInfraError);
      CHECK_THAT(ended.out + ended.err, Contains("the limit of this user's processes is " + limit));
      if (limit != "1") CHECK(wrong_with_reports(sandbox).empty());
    }
  }
}

// A sanitizer needs terabytes of address space.
#if !DISTRUN_SANITIZED
TEST_CASE("a limit of address space is reported, and is not a test's failure", "[limits]") {
  for (const std::string& isolation : kIsolations) {
    int denied = 0;
    for (int mib = 8; mib <= 24; mib += 2) {
      const Sandbox sandbox(distrun_program());
      const std::string limit = std::to_string(mib);
      const std::string option = "--as=" + std::to_string(mib << 20);
      // main() is not reached with a lower limit: libraries cannot be loaded or initialised.
      if (run_limited(sandbox, {option}, {"--version"}).exit_code != 0) continue;
      const Ended ended = run_limited(sandbox, {option}, run_of(sandbox, isolation, "4"));
      INFO(isolation << " with " << limit << " MiB: " << ended.out << ended.err);
      CHECK(ended.signal == 0);
      if (ended.exit_code == 0) continue;
      ++denied;
      CHECK(ended.exit_code == kInfraError);
      CHECK_THAT(ended.out + ended.err, Contains("the limit of address space is " + limit + " MiB (RLIMIT_AS)") ||
                                            Contains("failed to map segment"));
    }
    CHECK(denied > 0);
  }
}
#endif

TEST_CASE("a full disk is reported if a report or a work directory does not fit", "[limits]") {
  const Sandbox sandbox(distrun_program());
  const Scratch scratch;
  const std::string disk = scratch.path() + "/disk";
  fs::create_directory(disk);
  // In a separate mount namespace, so that the disk vanishes with it.
  const std::string script = "mount -t tmpfs -o size=64k,nr_inodes=8 none " + disk + " && head -c 60k /dev/zero > " +
                             disk + "/full; exec \"$@\"";
  Command command = sandbox.command({});
  command.program = "/usr/bin/unshare";
  command.arguments = {"--mount",  "--map-root-user", "/bin/sh",      "-c", script,          "sh", distrun_program(),
                       "--output", disk + "/reports", "--world-size", "2",  plugin("passes")};
  const Ended ended = Running(command).wait(scaled(milliseconds(60'000)));
  const bool no_mounts =
      ended.err.find("unshare:") != std::string::npos || ended.err.find("mount:") != std::string::npos;
  skip_case_if(no_mounts, "no mount namespace can be made here: " + ended.err);
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out, Contains("cannot write " + disk + "/reports/summary.json: No space left on device (ENOSPC)"));
  CHECK_THAT(ended.out, !Contains("report: " + disk + "/reports/summary.json\n"));

  command.arguments = {"--mount",
                       "--map-root-user",
                       "/bin/sh",
                       "-c",
                       script,
                       "sh",
                       "env",
                       "TMPDIR=" + disk,
                       distrun_program(),
                       "--output",
                       sandbox.output(),
                       "--world-size",
                       "8",
                       "--filter",
                       "Passes.trivial",
                       plugin("passes")};
  const Ended no_directories = Running(command).wait(scaled(milliseconds(60'000)));
  expect_infra_error(sandbox, no_directories, "cannot create " + disk);
}

TEST_CASE("a distrun-rank that is removed during a run is named", "[limits]") {
  for (const std::string isolation : {"process", "exec", "pool", "threads"}) {
    INFO(isolation);
    const Sandbox sandbox(distrun_program());
    const Scratch scratch;
    const std::string programs = scratch.path();
    for (const std::string name : {"distrun", "distrun-rank", "distrun-probe"}) {
      fs::copy(fs::path(distrun_program()).parent_path() / name, fs::path(programs) / name);
    }
    // The lister of the second plugin removes the file that the first plugin's ranks need.
    Command command = sandbox.command(run_of(sandbox, isolation, "4"));
    command.program = programs + "/distrun";
    command.environment.push_back("DISTRUN_TEST_REMOVES=" + programs + "/distrun-rank");
    command.arguments.push_back(plugin("load_removes"));
    const Ended ended = Running(command).wait(scaled(milliseconds(60'000)));
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == kInfraError);
    CHECK_THAT(ended.out, Contains("cannot start " + programs + "/distrun-rank: No such file or directory (ENOENT)"));
    CHECK(wrong_with_reports(sandbox).empty());
    CHECK(sandbox.processes().empty());
  }
}
