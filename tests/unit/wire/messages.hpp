#pragma once
// Every message of the protocol once, with a value in each field, and a function to visit them all.
#include <string>

#include <distrun/common/wire/control.hpp>
#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/inspect.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/common/wire/stacks.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::wire::samples {

inline RawStacks raw_stacks() {
  return {42,
          {{0x1000, "/lib/x.so"}},
          {{42, "main", {1, 0, 2}, true, true, ""}, {43, "helper", {}, false, false, "it ended"}}};
}

inline StackTable stack_table() {
  return {{{0x1010, "f(int)", "f.cpp", 7, "/lib/x.so", 0x10, true, false}, {0x1020, "", "", 0, "", 0x20, false, true}}};
}

inline ProcessStacks process_stacks() {
  ThreadStack thread;
  thread.task = {42, "main", 'S', "futex_wait_queue", "read(3)", "f\ng", 1000};
  thread.frames = {0, 1};
  thread.gap_after = 1;
  thread.incomplete = thread.crashed = true;
  thread.why_none = "gone";
  thread.motion = Motion::Spinning;
  thread.waits_for = "mutex";
  return {1, 42, "x", {thread}, "refused"};
}

inline ProbeOrder probe_order() { return {{42, 43}, {raw_stacks()}, 3, 20, 200}; }

inline RunStatus run_status() {
  return {"3f9c0a1b",
          4711,
          3,
          10,
          {{"Ring.pass", 2, 1500, {{1, 4712, "body", 1400, "barrier", 20, 4096}}}},
          {"distrun", "ring.so"},
          {"ring.so"},
          "/srv/ring",
          1'700'000'000'000};
}

inline RunOrder run_order() {
  RunOrder order;
  order.run_id = "3f9c0a1b";
  order.test_id = "Ring.pass/n=1";
  order.rank = 2;
  order.world_size = 4;
  order.attempt = 1;
  order.coordinator_pid = 4711;
  order.seed = 0xfedcba9876543210ULL;
  order.backend = "shm";
  order.agent = "pipe";
  order.gpu_driver = "virtual";
  order.gpus = 8;
  order.temp_dir = "/tmp/run/1";
  order.work_dir = "/tmp/run/1/rank2";
  order.init_method = "file:///tmp/run/1/rendezvous";
  order.env = {{"KEY", "value"}, {"EMPTY", ""}};
  order.suite = "Ring";
  order.suite_code = true;
  order.host = HostWork::TearDown;
  order.run_world_size = 8;
  order.suite_dir = "/tmp/run/2";
  order.suite_settings = {{"port", "4711"}};
  return order;
}

inline TestInfo test_info() {
  TestInfo info;
  info.suite = "Ring";
  info.name = "pass";
  info.parameters = {{"n", "1"}, {"backend", "shm"}};
  info.file = "ring.cpp";
  info.line = 41;
  info.world_rule = WorldRule::AnyOf;
  info.world_sizes = {2, 4};
  info.world_size = 4;
  info.timeout_ms = 5000;
  info.isolation = "exec";
  info.env_rendezvous = true;
  info.has_fixture = true;
  info.has_host = info.has_suite_code = info.gpu_per_rank = info.needs_mpi = true;
  info.may_die = {{2, DeathKind::Signal, 9}};
  info.skip = {{86, "no network"}};
  info.description = "passes once round";
  info.tags = {"fast", "ring"};
  info.locks = {"port 8000"};
  return info;
}

inline Submission submission() { return {{"distrun", "-w", "2", "ring.so"}, {"PATH=/bin", "EMPTY="}, 027}; }

inline DaemonStatus daemon_status() {
  return {"0.1.0", 4711, 90'000, 2, 100, 17, {{"3f9c0a1b2c3d", 4712, 0, 1500, true, false, "distrun ring.so"}}};
}

// Calls `visit` with a value of every message type.
template <class Visit>
void each_message(Visit visit) {
  visit(KeyValue{"key", "value"});
  visit(Hello{kControlAbi, 4711});
  visit(run_order());
  visit(PhaseChange{Phase::TearDown});
  visit(ErrorReport{"ValueError", "token is lost", "ring.cpp", 41, "main\nfoo", true, 3, raw_stacks()});
  visit(SkipReport{74, "no network"});
  visit(raw_stacks());
  visit(stack_table());
  visit(process_stacks());
  visit(probe_order());
  visit(ProbeDone{"no probe"});
  visit(InspectOrder{InspectKind::Stacks, 3});
  visit(run_status());
  visit(ToldStacks{{{"Ring.pass", 1500, 40, {{{{1, "rank 0"}, {0, " waits"}}}, {}}}}});
  visit(DaemonHello{7});
  visit(submission());
  visit(RunSignal{2});
  visit(CancelOrder{"3f9c"});
  visit(Refusal{"the queue is full"});
  visit(RunAccepted{"3f9c0a1b2c3d", 2});
  visit(RunPosition{1});
  visit(RunStarted{4712});
  visit(RunEnded{130, 15, "cancelled"});
  visit(RunsCancelled{{"3f9c"}, {"0a1b", "2c3d"}});
  visit(daemon_status());
  visit(BarrierEnter{"start"});
  visit(BarrierRelease{"start", "rank 1 is gone", 1});
  visit(RankMessage{1, 2, "token", std::string("\0\xff data", 7)});
  visit(ReceiveWait{-1, "token"});
  visit(PeerFinished{3});
  visit(LeakReport{true, "5 (/tmp/x)"});
  visit(Note{"device", "cpu"});
  visit(PeerFailed{3, "token is lost"});
  visit(PeerDied{3});
  visit(Done{true, 1234567890123ULL, {{"port", "4711"}}, {{"/dev/shm/x", 24, 4711}}, true});
  visit(WatchedDirectory{"/dev/shm", 1234567890123LL});
  visit(ListOrder{4, "shm", "pipe", "auto", 0, "process", "no device"});
  visit(test_info());
  visit(PluginTable{{test_info(), TestInfo{}}});
  visit(ListReply{"cannot load", std::string("table\0", 6)});
  visit(ZygoteReady{"cannot load", "the plugin started 1 thread"});
  visit(MountSpace{"/proc/4711/fd/12", "/proc/4711/fd/13"});
  visit(MountsMade{"unshare: Operation not permitted"});
  visit(ForkOrder{0x0080000000000001ULL, 4, 1024, {"/proc/4711/fd/12", ""}});
  visit(ForkAnswer{{1, 2, 3}, 11});
}

}  // namespace distrun::wire::samples
