#pragma once
// All stacks of an attempt, as a collector has gathered them. What comes from a probe or a rank is somebody else's
// data, so a StacksBuilder stands between: whatever it was given, what it gives is bounded, and every index in it is
// good. Nobody after it checks again.
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::evidence {

inline constexpr std::size_t kTableMax = 100'000;
inline constexpr std::size_t kProcessesMax = 4096;
inline constexpr std::size_t kThreadsMax = 65'536;     // of all processes
inline constexpr std::size_t kThreadFramesMax = 4096;  // of one stack: its innermost and its outermost are kept
inline constexpr std::size_t kFramesMax = std::size_t{1} << 22;  // of all stacks

// Whom a collector has asked about a process, and what came of it.
struct Source {
  std::string name;  // "kernel", "probe", "listener", "crash handler", "exception", "board"
  bool answered = false;
  std::string why_not;  // if it has not
};

struct Process {
  int index = 0;  // in the probe's order
  int rank = -1;  // -1: none of the ranks. Known to the collector only, which sets it
  int pid = 0;
  std::string command;
  std::vector<wire::ThreadStack> threads;
  std::string why_none;  // why no thread has a stack; empty: some may have
  std::vector<Source> sources;
  // Its ranks are threads: each of them is told as a process that has this thread alone, and the other threads as one
  // that is no rank. Known to who tells them apart.
  bool has_thread_ranks = false;
  // What was thrown there, if these are the stacks of a throw: "std::out_of_range". Known to who asked for their names.
  std::string threw;
};

struct Stacks {
  std::vector<wire::StackFrame> table;
  std::vector<Process> processes;
  bool cut = false;  // more came than is kept
};

class StacksBuilder {
 public:
  void add(wire::StackTable more);
  // Replaces what came before for the same index.
  void add(wire::ProcessStacks process);

  // What was told so far, by index, as if it were all. The builder is empty then.
  Stacks take();

 private:
  void forget(const wire::ProcessStacks& process);

  std::vector<wire::StackFrame> table_;
  std::map<int, wire::ProcessStacks> processes_;
  std::size_t threads_ = 0;  // in processes_, and so is the next
  std::size_t frames_ = 0;
  bool cut_ = false;
};

}  // namespace distrun::evidence
