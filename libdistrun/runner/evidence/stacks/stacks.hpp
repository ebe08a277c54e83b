#pragma once
// All stacks of an attempt, as gathered by a collector. Data from probes and ranks is untrusted; a StacksBuilder bounds
// it and validates every index, so that later stages need not check again.
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

inline constexpr std::size_t kTableMax = 100'000;
inline constexpr std::size_t kProcessesMax = 4096;
inline constexpr std::size_t kThreadsMax = 65'536;     // of all processes
inline constexpr std::size_t kThreadFramesMax = 4096;  // of one stack: the innermost and outermost ones are kept
inline constexpr std::size_t kEndersMax = 64;          // of one wait
inline constexpr std::size_t kFramesMax = std::size_t{1} << 22;  // of all stacks

// A source that a collector has queried about a process, and the result.
struct Source {
  std::string name;  // "kernel", "probe", "listener", "crash handler", "exception", "board"
  bool answered = false;
  std::string why_not;  // why it has not answered, or not completely; empty: it has
};

struct Process {
  int index = 0;  // the probe's index of it
  // The number of its machine, since processes of two machines may have the same pid; 0: this one. Set by the component
  // that gathers the stacks of several machines.
  int host = 0;
  int rank = -1;     // -1: not a rank. Set by the collector
  int of_rank = -1;  // the rank that has started it, or its parent; -1: it is a rank, or none has. Set by the collector
  int pid = 0;
  std::string command;  // of what a rank has started, the command line
  std::vector<wire::ThreadStack> threads;
  std::string why_none;  // why no thread has a stack; empty: some may have one
  std::vector<Source> sources;
  // Its ranks are threads: each is reported as a process with only that thread, and the other threads as a process that
  // is not a rank. Set by the component that separates them.
  bool has_thread_ranks = false;
  // The type of the exception, if these stacks belong to a throw: "std::out_of_range". Set by the requester.
  std::string threw;
  // The script that an interpreter runs in it: "python3.11 runs train.py"; empty: none is known. Set for programs, on
  // their machine (attempt/script_note.hpp).
  std::string script;
};

struct Stacks {
  std::vector<wire::StackFrame> table;
  std::vector<Process> processes;
  bool cut = false;          // more arrived than is kept
  base::RankHosts hosts;     // of the ranks, to name them. Set by the requester
  int descendants_left = 0;  // processes started by ranks that were not looked at
  // The CPU times were read when the threads had run on after the stop, or none was stopped.
  bool times_are_later = false;
  bool may_be_older = false;  // than the request, which has joined a collection that was under way
};

class StacksBuilder {
 public:
  void add(wire::StackTable more);
  // Replaces earlier data of the same index.
  void add(wire::ProcessStacks process);

  // Returns everything received so far, by index, and leaves the builder empty.
  Stacks take();

 private:
  void forget(const wire::ProcessStacks& process);

  std::vector<wire::StackFrame> table_;
  std::map<int, wire::ProcessStacks> processes_;
  std::size_t threads_ = 0;  // in processes_, as are frames_
  std::size_t frames_ = 0;
  bool cut_ = false;
};

}  // namespace distrun::evidence
