#pragma once
// Snapshots as tables: ranks on the board (views.hpp), and threads as a probe sees them.
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/record/doctor/build_graph.hpp>
#include <distrun/runner/record/doctor/causes.hpp>

#include "views.hpp"

namespace distrun::runner::tables {

using wire::WaitObject;

// A snapshot of ranks, in which each main thread shows what the board says.
inline Snapshot snapshot_of(std::vector<RankView> ranks) {
  Snapshot snapshot;
  snapshot.at_ns = views::kNow;
  snapshot.ranks = std::move(ranks);
  return snapshot;
}

// The process of a rank has the number 4700 + rank, as on the board; rank -1: any number.
inline evidence::Process& process_of(Snapshot& snapshot, int rank, int pid = 0) {
  if (pid == 0) pid = 4700 + rank;
  for (evidence::Process& process : snapshot.stacks.processes) {
    if (process.pid == pid) return process;
  }
  evidence::Process& process = snapshot.stacks.processes.emplace_back();
  process.rank = rank;
  process.pid = pid;
  process.command = "program";
  return process;
}

// Adds a thread that sleeps in the kernel (state S) in a system call.
inline wire::ThreadStack& add_thread(Snapshot& snapshot, int rank, int tid, const std::string& call = "",
                                     const std::string& name = "", int pid = 0) {
  wire::ThreadStack& thread = process_of(snapshot, rank, pid).threads.emplace_back();
  thread.task.tid = tid;
  thread.task.name = name;
  thread.task.state = 'S';
  thread.task.cpu_ns = 1'000'000;
  thread.task.syscall = call.empty() ? "" : call + "(0x10)";
  return thread;
}

// The main thread of a rank.
inline wire::ThreadStack& main_thread(Snapshot& snapshot, int rank, const std::string& call = "") {
  return add_thread(snapshot, rank, 4700 + rank, call, "main");
}

// All ranks of the snapshot have a main thread in a futex, and no other thread.
inline Snapshot with_stacks(Snapshot snapshot) {
  for (const RankView& view : snapshot.ranks) main_thread(snapshot, view.rank, "futex");
  return snapshot;
}

// The thread waits for `name`, which only `enders` can end.
inline void waits_for(wire::ThreadStack& thread, WaitObject object, const std::string& name,
                      std::vector<wire::WaitEnder> enders, const std::string& call = "") {
  thread.wait = {object, name, name, call, std::move(enders), true, "", ""};
}

// Puts the thread into a function of the user.
inline void in_function(Snapshot& snapshot, wire::ThreadStack& thread, const std::string& function,
                        const std::string& file, std::uint32_t line) {
  wire::StackFrame frame;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  frame.module = "/tmp/plugin.so";
  thread.frames.push_back(static_cast<std::uint32_t>(snapshot.stacks.table.size()));
  snapshot.stacks.table.push_back(std::move(frame));
}

// The SDK's receive: any of the named ranks may send.
inline RankView in_receive(int rank, const std::string& tag, std::vector<int> from) {
  RankView view = views::in_wait(rank, board::WaitKind::Receive, tag, std::move(from));
  view.shown->waits.back().rule = board::PeerRule::Any;
  return view;
}

// Two ranks that wait for each other's messages.
inline Snapshot receive_cycle() { return with_stacks(snapshot_of({in_receive(0, "a", {1}), in_receive(1, "b", {0})})); }

// The causes, if the same was seen twice.
inline std::vector<HangCause> causes_twice(const Snapshot& snapshot) {
  return doctor::causes_of(doctor::graph_of(snapshot, &snapshot));
}
inline std::vector<HangCause> causes_once(const Snapshot& snapshot) {
  return doctor::causes_of(doctor::graph_of(snapshot));
}

// "deadlock proven 0 1": kind, certainty and culprits.
inline std::string brief(const HangCause& cause) {
  std::string text = std::string(name_of(cause.kind)) + ' ' + name_of(cause.certainty);
  for (const int rank : cause.ranks) text += ' ' + std::to_string(rank);
  return text;
}
inline std::string brief(const std::vector<HangCause>& causes) {
  std::string text;
  for (const HangCause& cause : causes) text += (text.empty() ? "" : "; ") + brief(cause);
  return text;
}

}  // namespace distrun::runner::tables
