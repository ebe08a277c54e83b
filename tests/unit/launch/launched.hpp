#pragma once
// A real node on this machine, and worlds of real ranks with recorded events.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/proc/process_tree.hpp>

#include "../../support/process.hpp"
#include "../../support/scratch.hpp"
#include "../support/loop.hpp"

namespace distrun::launch {

// The thread sanitizer has a thread in every program, so no zygote may fork there.
inline constexpr bool kForks = !base::kThreadSanitizer;
inline constexpr Isolation kIsolation = kForks ? Isolation::Process : Isolation::Exec;

// Leads the ranks of one world through one test, and records their actions.
class Ranks final : public WorldEvents {
 public:
  Ranks(std::string test_id, int world_size, std::string temp_dir)
      : test_id_(std::move(test_id)), world_size_(world_size), temp_dir_(std::move(temp_dir)) {}

  std::shared_ptr<World> world;
  std::map<int, std::string> story;  // per rank: "started hello done ended(0)"
  std::map<int, pid_t> pids;
  std::map<int, proc::ExitStatus> ends;
  std::vector<std::string> spawn_failures;

  bool all(const std::string& word) const {
    const auto has = [&](const auto& entry) { return entry.second.find(word) != std::string::npos; };
    return static_cast<int>(story.size()) == world_size_ && std::all_of(story.begin(), story.end(), has);
  }
  bool all_ended() const { return static_cast<int>(ends.size()) == world_size_; }

  void on_rank_started(int rank, int pid) override {
    add(rank, "started");
    pids[rank] = pid;
  }
  void on_frame(int rank, const wire::Frame& frame) override {
    if (frame.is(wire::ControlFrame::Hello)) {
      add(rank, "hello");
      order(rank);
    }
    if (frame.is(wire::ControlFrame::Phase)) add(rank, "phase");
    if (frame.is(wire::ControlFrame::Done)) add(rank, "done");
  }
  void on_connection_lost(int rank, const std::string&) override {
    // A rank's connection closes just before its end is reported.
    if (story[rank].find("done") == std::string::npos) add(rank, "lost");
  }
  void on_rank_ended(int rank, proc::ExitStatus status, int) override {
    add(rank, status.exited() ? "ended(" + std::to_string(status.code()) + ")"
                              : "killed(" + std::to_string(status.signal()) + ")");
    ends[rank] = status;
  }
  void on_spawn_failed(const std::string& why) override { spawn_failures.push_back(why); }

 private:
  void add(int rank, const std::string& word) {
    std::string& text = story[rank];
    if (!text.empty()) text += " ";
    text += word;
  }
  void order(int rank) {
    wire::RunOrder order;
    order.run_id = "unit";
    order.test_id = test_id_;
    order.rank = rank;
    order.world_size = world_size_;
    order.attempt = 1;
    order.coordinator_pid = ::getpid();
    order.backend = "shm";
    order.agent = "pipe";
    order.temp_dir = order.work_dir = temp_dir_;
    world->send(rank, wire::pack(wire::ControlFrame::Run, static_cast<std::uint16_t>(rank), order));
  }

  std::string test_id_;
  int world_size_;
  std::string temp_dir_;
};

class Machine {
 public:
  static constexpr std::chrono::seconds kBound{20};

  Machine() : run_id("unit" + base::random_hex(8)), node(loop, options()) {
    proc::become_subreaper();
    ::unsetenv("DISTRUN_UNIT_LAUNCH");
  }
  LocalNodeOptions options() const {
    LocalNodeOptions made;
    made.rank_program = DISTRUN_RANK_PROGRAM;
    made.run_id = run_id;
    made.output_cap = 4096;
    return made;
  }

  wire::PluginTable list(const std::string& plugin, base::Nanoseconds bound = kBound) {
    const wire::ListOrder order{4, "shm", "pipe", "none", 0, "process", "--gpu-driver is none"};
    return testing::run_task(loop, node.list(plugin, order, bound));
  }
  Prepared prepare(Isolation isolation = kIsolation, base::Nanoseconds bound = kBound) {
    return testing::run_task(loop, node.prepare(DISTRUN_UNIT_PLUGIN, isolation, bound));
  }
  // Returns while its ranks are starting.
  std::unique_ptr<Ranks> spawn(const std::string& test, int world_size, Isolation isolation = kIsolation) {
    auto ranks = std::make_unique<Ranks>("Launch." + test, world_size, scratch.path());
    ranks->world = node.spawn(WorldSpec{DISTRUN_UNIT_PLUGIN, isolation, world_size}, *ranks);
    return ranks;
  }
  std::unique_ptr<Ranks> run(const std::string& test, int world_size, Isolation isolation = kIsolation) {
    auto ranks = spawn(test, world_size, isolation);
    if (!until([&] { return ranks->all_ended() || !ranks->spawn_failures.empty(); })) {
      throw std::runtime_error("its ranks do not end");
    }
    ranks->world->finish_output();
    return ranks;
  }
  template <class Done>
  bool until(Done done) {
    return testing::run_until(loop, done);
  }

  testing::Scratch scratch;
  std::string run_id;
  io::Loop loop;
  LocalNode node;
};

// Returns the text of the Error that `work` throws; "none" without an error.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace distrun::launch
