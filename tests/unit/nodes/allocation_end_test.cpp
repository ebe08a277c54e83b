// When a Slurm allocation ends. The test brings a squeue of its own.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <distrun/runner/nodes/allocation_end.hpp>

#include "../support/loop.hpp"
#include "support/scratch.hpp"

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;

using VariablesOfJob = std::map<std::string, std::string>;

// Puts a squeue with that script before all others, and counts its calls.
class OwnSqueue {
 public:
  explicit OwnSqueue(const std::string& script) : path_before_(std::getenv("PATH")) {
    const std::string file = scratch_.path() + "/squeue";
    testing::write_file(file, "#!/bin/sh\necho \"$*\" >>" + calls() + "\n" + script + "\n");
    ::chmod(file.c_str(), 0700);
    ::setenv("PATH", (scratch_.path() + ":" + path_before_).c_str(), 1);
  }
  ~OwnSqueue() { ::setenv("PATH", path_before_.c_str(), 1); }
  OwnSqueue(const OwnSqueue&) = delete;
  OwnSqueue& operator=(const OwnSqueue&) = delete;

  std::string calls() const { return scratch_.path() + "/calls"; }

 private:
  testing::Scratch scratch_;
  std::string path_before_;
};

// Returns how long the allocation lasts, or nothing if that is not known within `patience`.
std::optional<base::Nanoseconds> time_left(const VariablesOfJob& job, std::chrono::milliseconds patience = 20s) {
  io::Loop loop;
  std::optional<base::TimePoint> end;
  const base::TimePoint now = loop.clock().now();
  const AllocationEnd allocation(
      loop, [&end](base::TimePoint at) { end = at; },
      [&job](const char* name) {
        const auto found = job.find(name);
        return found == job.end() ? std::string() : found->second;
      });
  if (!testing::run_until(
          loop, [&] { return end.has_value(); }, patience)) {
    return std::nullopt;
  }
  return *end - now;
}

}  // namespace

TEST_CASE("squeue's time is read in all its forms, and is none if there is no limit") {
  CHECK(parse_time_left("0:07") == 7s);
  CHECK(parse_time_left("4:59") == 4min + 59s);
  CHECK(parse_time_left("1:00:00") == 1h);
  CHECK(parse_time_left("2-03:04:05") == 51h + 4min + 5s);
  for (const char* none : {"", "UNLIMITED", "INVALID", "NOT_SET", "7", "1:", ":1", "1:2:3:4", "-1:00", "1-",
                           "9999999:0", "slurm_load_jobs error: Invalid job id specified"}) {
    CAPTURE(none);
    CHECK(!parse_time_left(none));
  }
}

TEST_CASE("an allocation ends when its variable says") {
  const OwnSqueue squeue("echo 1:00");
  const std::int64_t now_s = base::system_clock().wall_ns() / 1'000'000'000;
  const auto left = time_left({{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_END_TIME", std::to_string(now_s + 100)}});
  REQUIRE(left);
  CHECK(*left > 97s);
  CHECK(*left < 101s);
  CHECK(!testing::exists(squeue.calls()));
}

TEST_CASE("without the variable, squeue is asked once") {
  const OwnSqueue squeue("echo 1:30");
  const auto left = time_left({{"SLURM_JOBID", "17"}});
  REQUIRE(left);
  CHECK(*left > 85s);
  CHECK(*left <= 90s + 1s);
  CHECK(testing::read_file(squeue.calls()) == "--noheader --jobs=17 --format=%L\n");
}

TEST_CASE("an allocation without a limit, one that Slurm does not know, and no allocation have no end") {
  const char* const script = GENERATE("echo UNLIMITED", "echo 'slurm_load_jobs error: no' >&2; exit 1", "exit 1");
  const OwnSqueue squeue(script);
  CHECK(!time_left({{"SLURM_JOB_ID", "17"}}, 300ms));
  CHECK(!time_left({{"SLURM_JOB_END_TIME", "99999999999"}}, 50ms));
}

TEST_CASE("one of several processes that Slurm has started does not ask squeue") {
  const OwnSqueue squeue("echo 1:30");
  CHECK(!time_left({{"SLURM_JOB_ID", "17"}, {"SLURM_STEP_NUM_TASKS", "64"}}, 300ms));
  CHECK(!testing::exists(squeue.calls()));
}

}  // namespace distrun::nodes
