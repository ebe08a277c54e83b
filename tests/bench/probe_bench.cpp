// The cost of getting the stacks of hung ranks: from the start of distrun-probe to the end of its output.
#include <benchmark/benchmark.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/child.hpp>

#include "support/probe_client.hpp"

namespace distrun::bench {
namespace {

// Waiting processes, killed by the destructor.
class World {
 public:
  World(int programs, int ranks_of_each, int threads) {
    for (int i = 0; i < programs; ++i) start(ranks_of_each, threads);
  }
  ~World() {
    for (const pid_t leader : leaders_) ::kill(-leader, SIGKILL);
    for (const pid_t leader : leaders_) ::waitpid(leader, nullptr, 0);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const std::vector<std::int32_t>& pids() const noexcept { return pids_; }

 private:
  void start(int ranks, int threads) {
    auto [output, input] = base::make_pipe();
    proc::ChildSpec spec;
    spec.program = DISTRUN_STACKS_WORLD;
    spec.arguments = {std::to_string(ranks), std::to_string(threads)};
    spec.environment = proc::inherited_environment();
    spec.descriptors = {{input.get(), STDOUT_FILENO}};
    leaders_.push_back(proc::start_rank(spec).pid);
    input.reset();
    std::string line;
    for (char c = 0; line != "ready" && ::read(output.get(), &c, 1) == 1;) {
      if (c != '\n') {
        line += c;
      } else if (line != "ready") {
        pids_.push_back(std::stoi(line));
        line.clear();
      }
    }
  }

  std::vector<pid_t> leaders_;
  std::vector<std::int32_t> pids_;
};

void ask(benchmark::State& state, const World& world, std::int32_t samples) {
  wire::ProbeOrder order;
  order.pids = world.pids();
  order.samples = samples;
  std::size_t stacks = 0;
  for (auto _ : state) {
    const testing::ProbeReply reply = testing::ask_probe(order, std::chrono::seconds(10));
    if (!reply.done || !reply.done->error.empty()) {
      state.SkipWithError("the probe has not done its part");
      return;
    }
    stacks = 0;
    for (const auto& [index, process] : reply.processes) {
      for (const wire::ThreadStack& thread : process.threads) stacks += thread.frames.empty() ? 0 : 1;
    }
  }
  state.counters["stacks"] = static_cast<double>(stacks);
}

// Ranks forked from one zygote: the same code at the same addresses.
void forked(benchmark::State& state) {
  const World world(1, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  ask(state, world, 1);
}
BENCHMARK(forked)
    ->Args({1, 1})
    ->Args({4, 16})
    ->Args({64, 1})
    ->Args({64, 4})
    ->Args({64, 16})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Ranks started by exec: the same files at other addresses.
void executed(benchmark::State& state) {
  const World world(static_cast<int>(state.range(0)), 1, static_cast<int>(state.range(1)));
  ask(state, world, 1);
}
BENCHMARK(executed)->Args({4, 16})->Unit(benchmark::kMillisecond)->UseRealTime();

// Includes the samples that show which threads move; the pauses between them take 40 ms of it.
void three_samples(benchmark::State& state) {
  const World world(1, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  ask(state, world, 3);
}
BENCHMARK(three_samples)->Args({4, 16})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace distrun::bench
