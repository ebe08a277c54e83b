#pragma once
// Merges all stacks of an attempt into one tree, with the outermost frames at its root. Threads with equal frames and
// an equal condition form one group, across processes; groups with equal outer frames share nodes. Frames are equal if
// function, file and line are; frames without a name, if module and offset are. Addresses are not compared: they differ
// between processes.
//
// Threads of a group may wait for different objects: the group lists each object with its holder. Two kinds of threads
// form groups of their own: those in a cycle of waits, and up to kOddMax that wait for something else than all others,
// or most of the others.
//
// Reading order. In a hang, the rank that differs matters: the others wait for it. So crashed threads come first; then
// groups with user code, or without a stack that could show any, before groups without user code; then groups of few
// processes before groups of many. Among equals, a thread that spins or waits for a known holder comes before one that
// merely waits, a main thread before others, and then the smallest rank. A node takes the position of its first group.
//
// The result does not depend on the order in which processes and threads were collected.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/condition.hpp>
#include <distrun/runner/evidence/stacks/frame_class.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::evidence {

// A thread, by its indices in the Stacks.
struct Holder {
  std::uint32_t process = 0;
  std::int32_t thread = -1;  // -1: the process itself, with no thread known
  friend bool operator==(const Holder&, const Holder&) = default;
};

// Returns nullptr for a process of which no thread is known.
inline const wire::ThreadStack* thread_of(const Stacks& stacks, const Holder& holder) {
  if (holder.thread < 0) return nullptr;
  return &stacks.processes[holder.process].threads[static_cast<std::size_t>(holder.thread)];
}

// Markers for missing frames in a stack.
inline constexpr std::uint32_t kGapMark = 0xffff'ffff;   // frames that were omitted
inline constexpr std::uint32_t kLostMark = 0xffff'fffe;  // outer frames that the unwinder did not find

inline constexpr std::size_t kOddMax = 4;

struct Group {
  std::vector<std::uint32_t> frames;  // indices of the tree's frames, or markers; outermost first
  Condition condition;
  std::vector<Holder> holders;  // by rank, main threads first
  // Describes the waits of the holders, as WaitLabels::label_of(): each text once, in the order of the holders.
  std::vector<std::string> waits;
  bool has_user_code = false;
  std::uint32_t place = 0;  // in the reading order
};

// The frames [begin, end) shared by the groups [first_group, last_group).
struct Node {
  // A branch: a group that ends here, or a node with more frames.
  struct Part {
    bool is_group = false;
    std::uint32_t index = 0;
  };
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t first_group = 0;
  std::uint32_t last_group = 0;
  std::uint32_t place = 0;  // that of its first group
  std::vector<Part> parts;  // in the reading order
};

struct StackTree {
  std::vector<wire::StackFrame> frames;  // each once, with its full name
  std::vector<FrameClass> classes;       // of each frame
  std::vector<Group> groups;             // sorted by frames
  std::vector<Node> nodes;               // the root, without frames, comes first; each node precedes its branches
  std::vector<Holder> own;               // distrun's own threads in their normal state, which are in no group

  bool is_user(std::uint32_t frame) const { return frame < classes.size() && classes[frame] == FrameClass::User; }
};

StackTree merge(const Stacks& stacks);

// Orders holders by rank, with other processes last; a main thread comes before others.
bool before(const Stacks& stacks, const Holder& a, const Holder& b);

// Returns whether the thread is the first of its process.
bool is_main(const Process& process, const wire::ThreadStack& thread) noexcept;

}  // namespace distrun::evidence
