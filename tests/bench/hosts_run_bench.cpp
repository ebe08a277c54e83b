// Measures what imitated nodes cannot show: links, and whole runs on nodes of this machine.
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <distrun/runner/nodes/link.hpp>

#include "fake_nodes.hpp"
#include "programs.hpp"

namespace distrun::bench {
namespace {

constexpr auto kIdle = std::chrono::seconds(2);

sockaddr_in loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

base::Fd tcp_socket() { return base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

// Returns both ends of `count` connections.
std::pair<std::vector<base::Fd>, std::vector<base::Fd>> connections(int count) {
  const base::Fd listener = tcp_socket();
  sockaddr_in address = loopback();
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.get(), raw, size) != 0 || ::listen(listener.get(), 16) != 0) return {};
  ::getsockname(listener.get(), raw, &size);
  std::pair<std::vector<base::Fd>, std::vector<base::Fd>> ends;
  for (int i = 0; i < count; ++i) {
    ends.first.push_back(tcp_socket());
    if (::connect(ends.first.back().get(), raw, size) != 0) return {};
    ends.second.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  return ends;
}

// Returns the CPU time that links over these sockets have used in a while in which neither side has anything to say.
base::Nanoseconds idle(std::vector<base::Fd> sockets) {
  io::Loop loop;
  std::vector<std::unique_ptr<nodes::Link>> links;
  for (base::Fd& socket : sockets) {
    links.push_back(std::make_unique<nodes::Link>(loop, std::move(socket)));
    links.back()->follow({[](const wire::Frame&) {}, [](const std::string&) {}});
  }
  io::Alarm end(loop, [&loop] { loop.stop(); });
  end.set_after(kIdle);
  const base::Nanoseconds before = thread_cpu_time();
  loop.run();
  return thread_cpu_time() - before;
}

// The CPU time for each second that the coordinator's ends of links use while nothing happens: pings and their answers,
// and looks whether the hosts still answer.
void idle_links(benchmark::State& state) {
  for (auto _ : state) {
    auto ends = connections(static_cast<int>(state.range(0)));
    if (ends.first.empty()) return state.SkipWithError("too few descriptors");
    std::thread nodes([sockets = std::move(ends.second)]() mutable { idle(std::move(sockets)); });
    const base::Nanoseconds used = idle(std::move(ends.first));
    nodes.join();
    state.SetIterationTime(std::chrono::duration<double>(used).count() / static_cast<double>(kIdle.count()));
  }
}
BENCHMARK(idle_links)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);

constexpr int kRepeats = 100;

std::vector<std::string> run_on(int hosts, int repeats, const std::string& isolation) {
  std::vector<std::string> arguments{DISTRUN_BIN_DIR "/distrun", "--filter",    "Bench.trivial", "--repeat",
                                     std::to_string(repeats),    "--isolation", isolation};
  std::string names;
  for (int i = 0; i < hosts; ++i) names += (i == 0 ? "" : ",") + ("node" + std::to_string(i));
  if (hosts > 0) arguments.insert(arguments.end(), {"--hosts", names, "--launcher", "local"});
  arguments.emplace_back(DISTRUN_BENCH_PLUGIN);
  return arguments;
}

void time_run(benchmark::State& state, int repeats, const std::string& isolation) {
  ::setenv("DISTRUN_HISTORY", "off", 1);
  for (auto _ : state) {
    const base::TimePoint before = base::system_clock().now();
    if (run_program(run_on(static_cast<int>(state.range(0)), repeats, isolation)) != 0) {
      return state.SkipWithError("the run did not pass");
    }
    state.SetIterationTime(std::chrono::duration<double>(base::system_clock().now() - before).count() / repeats);
  }
}

// The whole program for one test of 4 ranks, on this machine without nodes (0), and on that many nodes.
void one_test_on_hosts(benchmark::State& state) { time_run(state, 1, "process"); }
BENCHMARK(one_test_on_hosts)->Arg(0)->Arg(1)->Arg(2)->Arg(4)->Unit(benchmark::kMillisecond)->UseManualTime();

// An attempt of it in a run that repeats it, with the run's start divided over all.
void attempt_on_hosts(benchmark::State& state) { time_run(state, kRepeats, "process"); }
BENCHMARK(attempt_on_hosts)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseManualTime();

// The same with ranks that are kept from one attempt to the next.
void kept_attempt_on_hosts(benchmark::State& state) { time_run(state, kRepeats, "pool"); }
BENCHMARK(kept_attempt_on_hosts)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace distrun::bench
