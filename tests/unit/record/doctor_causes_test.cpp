#include <catch2/catch.hpp>

#include <distrun/runner/record/doctor/cause_text.hpp>

#include "tables.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace distrun::runner::tables;
using board::WaitKind;
using views::in_barrier;
using views::in_body;
using views::in_wait;

namespace {

// Ranks 0, 2 and 3 wait in a barrier for rank 1. Returns the main thread of rank 1.
wire::ThreadStack& without_rank_1(Snapshot& snapshot, const std::string& call = "") {
  snapshot = snapshot_of({in_barrier(0, "x"), in_body(1), in_barrier(2, "x"), in_barrier(3, "x")});
  for (const int rank : {0, 2, 3}) main_thread(snapshot, rank, "futex");
  return main_thread(snapshot, 1, call);
}

RankView in_collective(int rank, const std::string& name, std::vector<int> peers) {
  return in_wait(rank, WaitKind::Collective, name, std::move(peers), 1);
}

}  // namespace

TEST_CASE("threads of a rank that hold each other's mutexes are a deadlock inside it") {
  Snapshot snapshot;
  waits_for(without_rank_1(snapshot, "futex"), WaitObject::Mutex, "mutex 0x10", {{4701, 9001, ""}});
  waits_for(add_thread(snapshot, 1, 9001, "futex", "back"), WaitObject::Mutex, "mutex 0x20", {{4701, 4701, ""}});
  const auto causes = causes_twice(snapshot);
  CHECK(brief(causes) == "deadlock proven 1");
  CHECK(causes.front().victims == std::vector<int>{0, 2, 3});
  snapshot.stacks.processes.back().threads.back().wait.closed = false;
  CHECK(brief(causes_twice(snapshot)) == "deadlock likely 1");
}

TEST_CASE("a deadlock across a rank and its child is found") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "wait4"), WaitObject::Child, "child 815", {{815, 0, ""}});
  waits_for(add_thread(snapshot, -1, 815, "read", "sh", 815), WaitObject::Pipe, "pipe 7", {{4700, 0, ""}});
  CHECK(brief(causes_twice(snapshot)) == "deadlock likely 0");  // an alarm may end the child
}

TEST_CASE("a thread that waits for a mutex that it holds is a self-deadlock") {
  Snapshot snapshot;
  waits_for(without_rank_1(snapshot, "futex"), WaitObject::Mutex, "mutex 0x10", {{4701, 4701, ""}});
  CHECK(brief(causes_twice(snapshot)) == "self-deadlock proven 1");
  snapshot.stacks.processes.back().threads.back().wait.limit = "1.5 s";
  CHECK(brief(causes_twice(snapshot)) == "self-deadlock likely 1");
}

TEST_CASE("a lock is held by a rank that sleeps or computes, or by one that has gone") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  wire::ThreadStack& holder = main_thread(snapshot, 0, "clock_nanosleep");
  std::vector<wire::WaitEnder> enders{{4700, 0, ""}};
  std::string wanted = "held-lock likely 0";
  SECTION("sleeps") {}
  SECTION("computes") {
    holder.task.state = 'R';
    holder.task.syscall.clear();
  }
  SECTION("spins") {
    holder.task.syscall.clear();
    holder.motion = wire::Motion::Spinning;
  }
  SECTION("has gone") {
    enders.clear();
    wanted = "held-lock proven 1; slow likely 0";
  }
  waits_for(main_thread(snapshot, 1, "fcntl"), WaitObject::FileLock, "lock of /tmp/x", enders, "fcntl(F_SETLKW)");
  CHECK(brief(causes_twice(snapshot)) == wanted);
}

TEST_CASE("a lock is not the cause if its holder waits for another rank") {
  Snapshot snapshot = snapshot_of({in_receive(0, "go", {2}), in_body(1), in_body(2)});
  main_thread(snapshot, 0, "futex");
  waits_for(main_thread(snapshot, 1, "fcntl"), WaitObject::FileLock, "lock of /tmp/x", {{4700, 0, ""}});
  main_thread(snapshot, 2, "clock_nanosleep");
  const auto causes = causes_twice(snapshot);
  CHECK(brief(causes) == "unsent-message likely 2");
  CHECK(causes.front().victims == std::vector<int>{0, 1});
}

TEST_CASE("a rank that has not arrived in a barrier or collective is missing") {
  Snapshot snapshot;
  without_rank_1(snapshot, "clock_nanosleep");
  const auto causes = causes_twice(snapshot);
  CHECK(brief(causes) == "missing-rank likely 1");
  CHECK(causes.front().victims == std::vector<int>{0, 2, 3});
}

TEST_CASE("a rank that has ended is missing for ever in a barrier") {
  Snapshot snapshot = snapshot_of({in_wait(0, WaitKind::Barrier, "x", {1})});
  CHECK(brief(causes_twice(with_stacks(snapshot))) == "missing-rank proven 1");
}

TEST_CASE(
    "ranks in different barriers, or different collectives of one group, are mismatched, with the odd one first") {
  SECTION("barriers") {
    const auto causes = causes_twice(with_stacks(
        snapshot_of({in_barrier(0, "here"), in_barrier(1, "there"), in_barrier(2, "here"), in_barrier(3, "here")})));
    CHECK(brief(causes) == "mismatched-collective proven 1");
    CHECK(causes.front().victims == std::vector<int>{0, 2, 3});
    CHECK(causes.front().tid == 4701);
  }
  SECTION("collectives, which may time out") {
    const auto causes = causes_twice(with_stacks(
        snapshot_of({in_collective(0, "all_reduce of world", {1}), in_collective(1, "broadcast of world", {0})})));
    CHECK(brief(causes) == "mismatched-collective likely 0 1");
  }
}

TEST_CASE("ranks in collectives of different groups call them in different orders") {
  const auto causes = causes_twice(with_stacks(
      snapshot_of({in_collective(0, "all_reduce of rows", {1}), in_collective(1, "all_reduce of columns", {0})})));
  CHECK(brief(causes) == "collective-order likely 0 1");
}

TEST_CASE("a message from a rank that has ended is never sent, and one from a rank that sleeps not yet") {
  CHECK(brief(causes_twice(with_stacks(snapshot_of({in_receive(0, "go", {1})})))) == "unsent-message proven 1");
  Snapshot snapshot = snapshot_of({in_receive(0, "go", {1}), in_body(1)});
  main_thread(snapshot, 0, "futex");
  main_thread(snapshot, 1, "clock_nanosleep");
  CHECK(brief(causes_twice(snapshot)) == "unsent-message likely 1");
}

TEST_CASE("a rank that has ended since the earlier snapshot may have sent the message, which is on its way") {
  const Snapshot now = with_stacks(snapshot_of({in_receive(0, "go", {1})}));
  const Snapshot before = with_stacks(snapshot_of({in_receive(0, "go", {1}), in_body(1)}));
  CHECK(brief(doctor::causes_of(doctor::graph_of(now, &before))) == "unsent-message likely 1");
}

TEST_CASE("the last messages of a rank that owes one are evidence") {
  RankView sender = in_body(1);
  board::ShownOperation& sent = sender.shown->operations.emplace_back();
  sent.kind = WaitKind::Send;
  sent.name = "og";
  sent.peer = 0;
  const auto causes = causes_twice(with_stacks(snapshot_of({in_receive(0, "go", {1}), sender})));
  const std::vector<std::string>& evidence = causes.front().evidence;
  CHECK(std::find(evidence.begin(), evidence.end(), "rank 1 sent last: send \"og\" to rank 0") != evidence.end());
}

TEST_CASE("a key that no rank sets is never provided") {
  const auto all = snapshot_of({in_wait(0, WaitKind::StoreGet, "key"), in_wait(1, WaitKind::StoreGet, "key")});
  CHECK(brief(causes_twice(with_stacks(all))) == "unsent-message likely 0 1");
}

TEST_CASE("a condition variable that no thread can signal is a lost notification") {
  Snapshot snapshot;
  wire::ThreadStack& thread = without_rank_1(snapshot, "futex");
  waits_for(thread, WaitObject::ConditionVariable, "condition variable 0x10", {});
  CHECK(brief(causes_twice(snapshot)) == "lost-notification proven 1");
  snapshot.stacks.processes.back().threads.back().wait.closed = false;
  CHECK(brief(causes_twice(snapshot)) == "lost-notification likely 1");
}

TEST_CASE("a condition variable that a running thread may signal is not lost") {
  Snapshot snapshot;
  waits_for(without_rank_1(snapshot, "futex"), WaitObject::ConditionVariable, "condition variable 0x10",
            {{4701, 9001, ""}});
  add_thread(snapshot, 1, 9001, "clock_nanosleep", "worker");
  const auto causes = causes_twice(snapshot);
  CHECK(brief(causes) == "slow likely 1");
  CHECK(causes.front().tid == 9001);
}

TEST_CASE("an empty or full channel names its other end") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1)});
  main_thread(snapshot, 0, "clock_nanosleep");
  waits_for(main_thread(snapshot, 1, "read"), WaitObject::Pipe, "pipe 8812", {{4700, 0, ""}}, "read(5)");
  CHECK(brief(causes_twice(snapshot)) == "full-or-empty-channel likely 0");
  SECTION("held by the reader alone, it never ends") {
    snapshot.stacks.processes.back().threads.back().wait.enders = {{4701, 0, ""}};
    CHECK(brief(causes_twice(snapshot)).find("self-deadlock proven 1") == 0);
  }
  SECTION("of another machine, it is no proof") {
    snapshot.stacks.processes.back().threads.back().wait.enders.clear();
    snapshot.stacks.processes.back().threads.back().wait.closed = false;
    CHECK(brief(causes_twice(snapshot)).find("full-or-empty-channel likely 1") != std::string::npos);
  }
}

TEST_CASE("a child that does not exit is the cause, not the rank that waits for it") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "wait4"), WaitObject::Child, "child 815", {{815, 0, ""}}, "wait4(815)");
  add_thread(snapshot, -1, 815, "clock_nanosleep", "sleep", 815);
  const auto causes = causes_twice(snapshot);
  CHECK(causes.front().kind == HangKind::Child);
  CHECK(causes.front().pid == 815);
  CHECK(causes.front().victims == std::vector<int>{0});
}

TEST_CASE("a stopped, traced or uninterruptible rank is the cause in any wait") {
  Snapshot snapshot;
  wire::ThreadStack& thread = without_rank_1(snapshot, "futex");
  std::string wanted;
  SECTION("stopped") {
    thread.task.state = 'T';
    wanted = "stopped likely 1";
  }
  SECTION("traced") {
    thread.task.state = 't';
    wanted = "traced likely 1";
  }
  SECTION("uninterruptible") {
    thread.task.state = 'D';
    wanted = "stuck-in-kernel likely 1";
  }
  CHECK(brief(causes_twice(snapshot)) == wanted);
}

TEST_CASE("a rank that spins without progress is spinning, and one that makes progress is not") {
  Snapshot now;
  without_rank_1(now).motion = wire::Motion::Spinning;
  Snapshot earlier = now;
  CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "spinning likely 1");
  SECTION("it makes progress on the board") {
    now.ranks[1].shown->epoch = 9;
    CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "slow likely 1");
    SECTION("but sends one message over and over") {
      board::ShownOperation sent;
      sent.kind = WaitKind::Send;
      sent.name = "after you";
      sent.peer = 0;
      now.ranks[1].shown->operations.assign(9, sent);
      CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "livelock likely 1");
    }
  }
  SECTION("it moves") {
    now.stacks.processes.back().threads.back().motion = wire::Motion::Moving;
    CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "missing-rank likely 1");
    now.ranks[1].shown->epoch = 9;
    CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "slow likely 1");
  }
  SECTION("it sleeps between two steps") {
    now.stacks.processes.back().threads.back().motion = wire::Motion::Waiting;
    now.stacks.processes.back().threads.back().task.syscall = "clock_nanosleep(1)";
    CHECK(brief(doctor::causes_of(doctor::graph_of(now, &earlier))) == "missing-rank likely 1");
  }
}

TEST_CASE("ranks that send each other the same message over and over are in a livelock, also while they wait") {
  Snapshot snapshot = receive_cycle();
  board::ShownOperation sent;
  sent.kind = WaitKind::Send;
  sent.name = "after you";
  for (RankView& view : snapshot.ranks) {
    view.progressed = true;
    view.shown->operations.assign(9, sent);
  }
  CHECK(brief(causes_once(snapshot)) == "livelock likely 0 1");
  SECTION("but not if one of them has stopped sending") {
    snapshot.ranks[1].progressed = false;
    CHECK(brief(causes_once(snapshot)) == "deadlock likely 0 1");
  }
  SECTION("and if one runs just then, both are to blame") {
    snapshot.ranks[1].shown->waits.clear();
    snapshot.stacks.processes.back().threads.back().task.state = 'R';
    snapshot.stacks.processes.back().threads.back().task.syscall.clear();
    CHECK(brief(causes_once(snapshot)) == "livelock likely 0 1");
  }
}

TEST_CASE("a rank in an event loop without events waits for a channel, and another process serves whoever comes") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  waits_for(main_thread(snapshot, 0, "epoll_wait"), WaitObject::Events, "2 descriptors", {}, "epoll_wait(3)");
  snapshot.stacks.processes.back().threads.back().wait.closed = false;
  CHECK(brief(causes_once(snapshot)) == "full-or-empty-channel likely 0");
  snapshot.ranks.clear();
  snapshot.stacks.processes.back().rank = -1;
  CHECK(brief(causes_once(snapshot)) == "unknown unknown");
}

TEST_CASE("calls that no thread is free to run are a starved pool, but a call that runs is not starved") {
  const auto calls = [](int rank, int other, std::uint64_t id) {
    RankView view = views::runs(in_wait(rank, WaitKind::RpcReply, "h", {other}, 50), "f", id, other, 9000 + rank);
    return views::waits(view, WaitKind::RpcReply, "g", {other}, id + 10, 9000 + rank);
  };
  CHECK(brief(causes_once(snapshot_of({calls(0, 1, 1), calls(1, 0, 2)}))) == "starved-pool likely 0 1");
  SECTION("run by the callee") {
    RankView caller = in_wait(0, WaitKind::RpcReply, "f", {1}, 7);
    CHECK(brief(causes_once(snapshot_of({caller, views::runs(in_body(1), "f", 7, 0, 9001)}))) ==
          "unsent-message likely 1");
  }
}

TEST_CASE("a cycle through a device is a device wait") {
  const auto in_stream = [](int rank, const std::string& name, std::vector<int> peers) {
    return views::waits(in_wait(rank, WaitKind::Stream, "cuda:0"), WaitKind::Collective, name, std::move(peers), 1,
                        9000 + rank);
  };
  const auto causes =
      causes_once(snapshot_of({in_stream(0, "all_reduce of world", {1}), in_stream(1, "all_reduce of pair", {0})}));
  CHECK(brief(causes) == "device-wait likely 0 1");
  const auto missing = causes_once(snapshot_of({in_stream(0, "all_reduce of world", {1}), in_body(1)}));
  CHECK(brief(missing) == "missing-rank likely 1");
}

TEST_CASE("a rank that has not begun its test is not started, and one that runs its body is") {
  Snapshot snapshot = snapshot_of({in_barrier(0, "x"), RankView{1, {}}, in_barrier(2, "x"), in_barrier(3, "x")});
  SECTION("it shows nothing") {}
  SECTION("it loads the plugin") {
    snapshot.ranks[1] = in_body(1);
    snapshot.ranks[1].shown->phase = wire::Phase::Load;
  }
  CHECK(brief(causes_once(snapshot)) == "not-started likely 1");
  snapshot.ranks[1] = in_body(1);
  CHECK(brief(causes_once(snapshot)) == "missing-rank likely 1");
}

TEST_CASE("a rank that hangs after its test is stuck at its exit, unless that is a proven deadlock") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  snapshot.ranks[0].shown->phase = wire::Phase::Exit;
  wire::ThreadStack& thread = main_thread(snapshot, 0, "futex");
  CHECK(brief(causes_twice(snapshot)) == "stuck-at-exit likely 0");
  waits_for(thread, WaitObject::Mutex, "mutex 0x10", {{4700, 4700, ""}});
  CHECK(brief(causes_twice(snapshot)) == "self-deadlock proven 0");
}

TEST_CASE("ranks that sleep while no rank waits for them are slow, and form one cause") {
  Snapshot snapshot = snapshot_of({in_body(0), in_body(1), in_body(2)});
  for (const int rank : {0, 1, 2}) main_thread(snapshot, rank, "clock_nanosleep");
  CHECK(brief(causes_twice(snapshot)) == "slow likely 0 1 2");
}

TEST_CASE("a wait that is not understood is an unknown cause") {
  Snapshot snapshot = snapshot_of({in_body(0)});
  main_thread(snapshot, 0, "io_uring_enter");
  CHECK(brief(causes_twice(snapshot)) == "unknown unknown 0");
}

TEST_CASE("programs that show no board are explained by what was observed") {
  Snapshot snapshot = snapshot_of({RankView{0, {}}, RankView{1, {}}});
  main_thread(snapshot, 0, "clock_nanosleep");
  waits_for(main_thread(snapshot, 1, "fcntl"), WaitObject::FileLock, "lock of /tmp/x", {{4700, 0, ""}});
  CHECK(brief(causes_twice(snapshot)) == "held-lock likely 0");
}

TEST_CASE("processes that are no ranks are explained as well") {
  Snapshot snapshot;
  waits_for(add_thread(snapshot, -1, 100, "read", "a", 100), WaitObject::Pipe, "pipe 1", {{200, 0, ""}});
  waits_for(add_thread(snapshot, -1, 200, "read", "b", 200), WaitObject::Pipe, "pipe 2", {{100, 0, ""}});
  CHECK(brief(causes_twice(snapshot)) == "deadlock likely");
}

TEST_CASE("a deadlock of threads that no rank waits for is a note") {
  Snapshot snapshot;
  without_rank_1(snapshot, "clock_nanosleep");
  waits_for(add_thread(snapshot, 1, 9001, "futex", "a"), WaitObject::Mutex, "mutex 0x10", {{4701, 9002, ""}});
  waits_for(add_thread(snapshot, 1, 9002, "futex", "b"), WaitObject::Mutex, "mutex 0x20", {{4701, 9001, ""}});
  const doctor::Diagnosis diagnosis = doctor::diagnose(doctor::graph_of(snapshot, &snapshot));
  CHECK(brief(diagnosis.causes) == "missing-rank likely 1");
  CHECK(brief(diagnosis.notes) == "deadlock proven 1");
}

TEST_CASE("a proven deadlock comes before a rank that more ranks wait for") {
  Snapshot snapshot =
      snapshot_of({in_receive(0, "a", {1}), in_receive(1, "b", {0}), in_wait(2, WaitKind::Barrier, "x", {4}),
                   in_wait(3, WaitKind::Barrier, "x", {4}), in_body(4)});
  for (const int rank : {0, 1, 2, 3}) main_thread(snapshot, rank, "futex");
  main_thread(snapshot, 4, "clock_nanosleep");
  CHECK(brief(causes_twice(snapshot)) == "deadlock proven 0 1; missing-rank likely 4");
}

TEST_CASE("only the ranks that are late are explained, if they are named") {
  const Snapshot snapshot = snapshot_of({in_receive(0, "go", {1}), in_body(1), in_receive(2, "go", {3}), in_body(3)});
  CHECK(brief(doctor::causes_of(doctor::graph_of(snapshot), {2})) == "unsent-message likely 3");
}

TEST_CASE("every kind of cause has a name that is found again") {
  for (int i = 0; i < kHangKindCount; ++i) {
    const auto kind = static_cast<HangKind>(i);
    CHECK(try_find_hang_kind(name_of(kind)) == kind);
  }
  CHECK_FALSE(try_find_hang_kind("").has_value());
}

TEST_CASE("what is not proven says what would contradict it") {
  Snapshot snapshot;
  without_rank_1(snapshot, "clock_nanosleep");
  CHECK_FALSE(causes_twice(snapshot).front().contradicted_by.empty());
  CHECK(causes_twice(receive_cycle()).front().contradicted_by.empty());
}
