#pragma once
// A node with worlds that are controlled by the test: events occur only by the test's calls, and the runner's actions
// are recorded.
#include <sys/stat.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/launch/process_state.hpp>

namespace distrun::runner::fake {

using Clock = std::chrono::steady_clock;
using Names = std::vector<std::string>;

class World : public launch::World {
 public:
  struct Signal {
    int rank;
    int number;
    Clock::time_point at;
  };

  World(io::Loop& loop, launch::WorldSpec spec, launch::WorldEvents& events)
      : loop_(loop), spec_(std::move(spec)), events_(events) {}

  // ---- actions of ranks
  void start(int rank) { start(rank, 1000 + rank); }
  void start(int rank, int pid) {
    pids_[rank] = pid;
    events_.on_rank_started(rank, pid);
  }
  void start_all() {
    for (int rank = 0; rank < spec_.world_size; ++rank) start(rank);
  }
  template <class T>
  void say(int rank, wire::ControlFrame kind, const T& message) {
    events_.on_frame(rank, {kind, static_cast<std::uint16_t>(rank), wire::encode(message)});
  }
  void hello(int rank) { say(rank, wire::ControlFrame::Hello, wire::Hello{wire::kControlAbi, 1000 + rank}); }
  void start_and_greet_all() {
    start_all();
    for (int rank = 0; rank < spec_.world_size; ++rank) hello(rank);
  }
  void error(int rank, const std::string& text, int because_of = -1) {
    say(rank, wire::ControlFrame::Error, wire::ErrorReport{"RuntimeError", text, "ring.cpp", 41, "", true, because_of});
  }
  void done(int rank, bool passed = true) {
    say(rank, wire::ControlFrame::Done, wire::Done{passed, 7, {}, held_by_ranks});
  }
  // Makes the rank hold that name when it reports its result.
  void hold(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) held_by_ranks.push_back({path, status.st_dev, status.st_ino});
  }
  void end(int rank, proc::ExitStatus status = proc::ExitStatus::of_code(0)) {
    events_.on_rank_ended(rank, status, -1);
  }
  void pass(int rank) {
    done(rank);
    end(rank);
  }
  void die(int rank, int signal) { end(rank, proc::ExitStatus::of_signal(signal)); }
  launch::WorldEvents& events() { return events_; }

  // ---- actions of the runner
  std::vector<wire::Frame> frames(int rank, wire::ControlFrame kind) const {
    std::vector<wire::Frame> found;
    for (const wire::Frame& frame : sent_) {
      if (frame.rank == rank && frame.is(kind)) found.push_back(frame);
    }
    return found;
  }
  template <class T>
  std::vector<T> messages(int rank, wire::ControlFrame kind) const {
    std::vector<T> found;
    for (const wire::Frame& frame : frames(rank, kind)) found.push_back(wire::decode<T>(wire::view_of(frame.payload)));
    return found;
  }
  std::vector<int> signals_of(int rank) const {
    std::vector<int> numbers;
    for (const Signal& signal : signals) {
      if (signal.rank == rank) numbers.push_back(signal.number);
    }
    return numbers;
  }
  bool was_sent(int rank, int number) const {
    const std::vector<int> numbers = signals_of(rank);
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }
  const launch::WorldSpec& spec() const { return spec_; }
  const launch::Spread* spread() const override { return hosts.host_of.empty() ? nullptr : &hosts; }
  std::optional<launch::Moment> seen_at(int rank) const override {
    const auto found = seen.find(rank);
    return found == seen.end() ? std::nullopt : std::optional(found->second);
  }

  launch::Spread hosts;                      // of the ranks; empty: this machine
  Names renewed;                             // tests for which kept ranks on hosts got new provisions
  int kept = 0;                              // times that ranks on hosts were kept
  bool clean = true;                         // what hosts answer when they have looked for what waiting ranks have left
  std::function<void()> on_inspect = [] {};  // called before that
  std::vector<launch::LeftBehind> left_behind;  // what a sweep of hosts finds
  std::map<int, launch::Moment> seen;           // when the machines of ranks have seen their latest events
  std::vector<Signal> signals;
  std::vector<Signal> to_processes;  // only those for the ranks' processes
  int snapshots = 0;                 // number of requests for stacks
  int gentle_looks = 0;              // that stop no rank
  evidence::Stacks asleep;           // what those see
  bool hold_gentle = false;          // deliver them only by give_gentle()
  std::vector<launch::OnStacks> held_gentle;
  std::map<int, board::Shown> boards;  // of ranks that show a state
  bool hold_stacks = false;            // deliver them only by give_stacks()
  std::vector<launch::OnStacks> waiting_for_stacks;
  std::vector<std::vector<std::pair<int, wire::RawStacks>>> to_name;
  std::vector<launch::OnStacks> waiting_for_names;
  std::vector<wire::ControlFrame> sent_kinds;
  std::vector<launch::Leftover> left;  // until ended
  std::vector<base::HeldName> held;    // by the leftovers
  std::vector<wire::HeldName> held_by_ranks;
  std::vector<std::string> ended;  // found only when the leftovers are ended
  int ends_needed = 0;             // calls of end_leftovers() until they are gone
  std::function<void()> on_end_leftovers = [] {};
  std::function<void(World&, int rank, const wire::Frame&)> answer;  // to each frame, with a short delay
  bool mortal = false;                                               // SIGTERM ends a rank
  bool deaf = false;                                                 // sending to it overflows
  bool offspring = false;                                            // live ranks have child processes
  base::Nanoseconds used{};                                          // CPU time of each rank
  bool computes = false;                                             // each rank uses all the time there is
  bool makes_progress = false;                                       // boards show more each time they are read
  std::map<int, base::Nanoseconds> cpu_waits;                        // by rank; zero if absent
  std::map<int, std::string> output;
  std::map<int, std::string> errors;  // written by ranks

  // ---- launch::World
  void send(int rank, wire::Bytes packed) override {
    if (deaf) throw Error(ErrorKind::Overloaded, "the rank does not read");
    wire::FrameSplitter splitter(wire::kProtocol<wire::ControlFrame>);
    splitter.feed(wire::view_of(packed));
    sent_.push_back(splitter.next().value());
    sent_kinds.push_back(sent_.back().kind_as<wire::ControlFrame>());
    if (sent_.back().rank != rank) throw std::logic_error("a frame for another rank");
    if (answer) loop_.post([this, rank, frame = sent_.back()] { answer(*this, rank, frame); });
  }
  void signal(int rank, int number) override {
    signals.push_back({rank, number, Clock::now()});
    if (mortal)
      loop_.post([this, rank, number] {
        if (number == SIGTERM) die(rank, number);
      });
  }
  void signal_process(int rank, int number) override { to_processes.push_back({rank, number, Clock::now()}); }
  std::optional<board::Shown> shown(int rank) const override {
    const auto found = boards.find(rank);
    if (found == boards.end()) return std::nullopt;
    board::Shown shown = found->second;
    if (makes_progress) shown.epoch = ++readings_;
    return shown;
  }
  void collect_stacks(const launch::StackOrder& order, launch::OnStacks on_stacks) override {
    if (order.gentle) {
      ++gentle_looks;
      if (hold_gentle) return held_gentle.push_back(std::move(on_stacks));
      return loop_.post([this, on_stacks = std::move(on_stacks)] { on_stacks(asleep); });
    }
    waiting_for_stacks.push_back(std::move(on_stacks));
    ++snapshots;
    if (!hold_stacks) give_stacks();
  }
  // Delivers the results of the probe.
  void give_stacks() {
    for (launch::OnStacks& on_stacks : std::exchange(waiting_for_stacks, {})) {
      loop_.post([on_stacks = std::move(on_stacks)] { on_stacks({}); });
    }
  }
  void give_gentle() {
    for (launch::OnStacks& on_stacks : std::exchange(held_gentle, {})) {
      loop_.post([this, on_stacks = std::move(on_stacks)] { on_stacks(asleep); });
    }
  }
  base::Nanoseconds cpu_time(int /*rank*/) const override { return computes ? Clock::now().time_since_epoch() : used; }
  base::Nanoseconds cpu_wait(int rank) const override {
    const auto found = cpu_waits.find(rank);
    return found == cpu_waits.end() ? base::Nanoseconds::zero() : found->second;
  }
  launch::ProcessState process_state(int rank) const override {
    const auto pid = pids_.find(rank);
    return launch::process_state_of(pid == pids_.end() ? 0 : pid->second, [](pid_t) { return false; });
  }
  std::optional<board::Dump> crash(int) const override { return std::nullopt; }
  void name_stacks(const char*, std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds,
                   launch::OnStacks on_stacks) override {
    to_name.push_back(std::move(by_rank));
    waiting_for_names.push_back(std::move(on_stacks));
  }
  // Delivers the probe's results for the oldest request.
  void give_names(evidence::Stacks stacks) {
    loop_.post([on_stacks = waiting_for_names.at(0), stacks = std::move(stacks)] { on_stacks(stacks); });
    waiting_for_names.erase(waiting_for_names.begin());
  }
  void inspect(std::function<void(bool is_clean)> on_inspected) override {
    on_inspect();
    loop_.post([this, on_inspected = std::move(on_inspected)] { on_inspected(clean); });
  }
  void keep(bool /*holds*/) override { ++kept; }
  void renew(const launch::WorldSpec& spec) override { renewed.push_back(spec.test); }
  void sweep(bool /*patient*/, std::function<void(std::vector<launch::LeftBehind>)> on_swept) override {
    loop_.post([this, on_swept = std::move(on_swept)] { on_swept(left_behind); });
  }
  proc::Captured standard_output(int rank) const override {
    const auto found = output.find(rank);
    return {found == output.end() ? "" : found->second, 0, 0};
  }
  proc::Captured standard_error(int rank) const override {
    const auto found = errors.find(rank);
    return found == errors.end() ? proc::Captured{} : proc::Captured{found->second, found->second.size(), 0};
  }
  void finish_output() override {}
  void forget_output() override { output.clear(); }
  bool has_offspring() override { return offspring; }
  std::vector<launch::Leftover> leftovers() override { return left; }
  std::vector<base::HeldName> held_by_leftovers(const std::vector<std::string>&) override { return held; }
  launch::EndedLeftovers end_leftovers() override {
    on_end_leftovers();
    if (ends_needed > 0 && --ends_needed > 0) return {{}, static_cast<int>(left.size())};
    left.clear();
    return {std::exchange(ended, {}), 0};
  }

 private:
  mutable std::uint64_t readings_ = 0;  // of boards, with makes_progress
  io::Loop& loop_;
  launch::WorldSpec spec_;
  launch::WorldEvents& events_;
  std::vector<wire::Frame> sent_;
  std::map<int, int> pids_;  // by rank
};

class MountSpace final : public launch::MountSpace {
 public:
  wire::MountSpace name() const override { return {"mounts", "users"}; }
};

class Node final : public launch::Node {
 public:
  explicit Node(io::Loop& loop) : loop_(loop) {}

  io::Task<wire::PluginTable> list(std::string plugin, wire::ListOrder, base::Nanoseconds) override {
    const auto found = tables.find(plugin);
    if (found == tables.end()) throw Error(ErrorKind::Failed, plugin + ": its lister was killed");
    co_return found->second;
  }
  void spare(int) override {}
  bool is_spread() const override { return !host_of.empty(); }
  io::Task<launch::Prepared> prepare(std::string plugin, Isolation isolation, base::Nanoseconds) override {
    ++prepared;
    if (on_prepare) std::exchange(on_prepare, {})();
    if (unloadable == plugin) throw Error(ErrorKind::Failed, plugin + ": it crashed while loading");
    launch::Prepared answer;
    answer.isolation = exec_only.empty() ? isolation : Isolation::Exec;
    answer.reason = exec_only;
    co_return answer;
  }
  io::Task<std::shared_ptr<launch::MountSpace>> make_mounts(std::vector<launch::Mount> wanted) override {
    mounts.push_back(std::move(wanted));
    if (!no_mounts.empty()) throw Error(ErrorKind::Failed, no_mounts);
    co_return std::make_shared<MountSpace>();
  }
  std::shared_ptr<launch::World> spawn(const launch::WorldSpec& spec, launch::WorldEvents& events) override {
    world = std::make_shared<World>(loop_, spec, events);
    world->hosts.host_of = host_of;
    worlds.push_back(world);
    ++spawned;
    if (script) loop_.post([this, made = world] { script(*made); });
    return world;
  }
  void cancel() override { ++cancelled; }
  void release(const std::string& plugin) override { released.push_back(plugin); }
  void close() override {}

  std::shared_ptr<World> world;                // the last one
  std::vector<std::shared_ptr<World>> worlds;  // all
  std::function<void(World&)> script;          // actions of each new world
  std::map<std::string, wire::PluginTable> tables;
  std::vector<std::vector<launch::Mount>> mounts;  // requested
  std::string no_mounts;                           // the reason why mounts fail
  std::string unloadable;
  std::vector<std::string> host_of;  // of ranks of new worlds; empty: this machine
  std::string exec_only;
  std::vector<std::string> released;
  int spawned = 0;
  int prepared = 0;
  std::function<void()> on_prepare;  // called once
  int cancelled = 0;

 private:
  io::Loop& loop_;
};

}  // namespace distrun::runner::fake
