#include <distrun/runner/launch/stack_collector.hpp>

#include <catch2/catch.hpp>

#include <fstream>

#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../support/process.hpp"
#include "../../support/scratch.hpp"
#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::launch;

namespace {

// Returns the stacks of a sleeping process, collected by a shell script as the probe.
evidence::Stacks collected_by(const std::string& script, bool is_traced = false) {
  testing::Scratch scratch;
  const std::string path = scratch.path() + "/probe";
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  ::chmod(path.c_str(), 0700);
  const testing::Running sleeper({"/bin/sleep", {"100"}});
  const std::string status = "/proc/" + std::to_string(sleeper.pid()) + "/stat";
  REQUIRE(testing::eventually(testing::kLong,
                              [&] { return testing::read_file(status).find("(sleep) S") != std::string::npos; }));
  if (is_traced) REQUIRE(::ptrace(PTRACE_SEIZE, sleeper.pid(), nullptr, nullptr) == 0);
  io::Loop loop;
  std::optional<evidence::Stacks> stacks;
  StackOrder order;
  order.bound = std::chrono::milliseconds(300);
  StackCollector collector(
      loop, {path, {}}, {{-1, sleeper.pid()}}, order, [](int) { return false; },
      [&](evidence::Stacks all) { stacks = std::move(all); });
  REQUIRE(testing::run_until(loop, [&] { return stacks.has_value(); }));
  return *stacks;
}

}  // namespace

TEST_CASE("if the probe is stuck, dies or sends garbage, the kernel's view of each process is still there") {
  const std::string script = GENERATE(std::string("exec sleep 100"), std::string("kill -9 $$"),
                                      std::string("head -c 100 /dev/zero >&3; exit 1"));
  INFO(script);
  const evidence::Stacks stacks = collected_by(script);
  REQUIRE(stacks.processes.size() == 1);
  const evidence::Process& process = stacks.processes.front();
  REQUIRE(process.threads.size() == 1);
  CHECK(process.threads.front().task.state == 'S');
  CHECK(process.threads.front().task.name == "sleep");
  REQUIRE(process.sources.size() == 2);
  CHECK(process.sources[0].name == "kernel");
  CHECK(process.sources[0].answered);
  CHECK(process.sources[1].name == "probe");
  CHECK_FALSE(process.sources[1].answered);
  CHECK_FALSE(process.sources[1].why_not.empty());
}

TEST_CASE("a process without stacks says who traces it, even if the probe could not") {
  const evidence::Stacks stacks = collected_by("exec sleep 100", true);
  CHECK(stacks.processes.at(0).why_none == "process " + std::to_string(::getpid()) + " (unit_launch) traces it");
}

TEST_CASE("a thread without a stack from the probe or the rank says why both have none") {
  evidence::Process process;
  process.why_none = "process 7 already traces it";
  process.threads.emplace_back().task.tid = 1;
  process.threads.emplace_back().task.tid = 2;
  process.threads.back().task.name = "helper";
  process.threads.back().wait.object = wire::WaitObject::Pipe;
  std::vector<wire::ThreadStack> answers(2);
  answers[0].task.tid = 2;
  answers[0].why_none = "it did not answer in time";
  answers[1].task.tid = 1;
  answers[1].frames = {0};
  launch::take_threads(process, std::move(answers), 5);
  CHECK(process.threads[1].why_none ==
        "process 7 already traces it; when the rank was asked by a signal, it did not answer in time");
  CHECK(process.threads[1].task.name == "helper");
  CHECK(process.threads[1].wait.object == wire::WaitObject::Pipe);
  CHECK(process.threads[0].why_none.empty());
  CHECK(process.threads[0].frames == std::vector<std::uint32_t>{5});
}
