#pragma once
// All stacks of an attempt as one tree, with the outermost frames at its root. Threads with equal frames in an equal
// condition are one group, whatever their process; groups whose outer frames are equal share nodes. Frames are equal
// by function, file and line, those without a name by module and offset: never by address, which differs by process.
//
// Reading order. Who reads the tree of a hang looks for the rank that differs: the others wait for it. So a crashed
// thread comes first; then what has user code, or no stack that could show any, before what has none; then groups of
// few processes before groups of many. Among equals a thread that spins or whose lock is known comes before one that
// merely waits, a main thread before others, and then the smallest rank. A node has the place of its first group.
//
// The order in which processes and threads were gathered has no influence.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <distrun/runner/evidence/stacks/condition.hpp>
#include <distrun/runner/evidence/stacks/frame_class.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::evidence {

// A thread, by its place in the Stacks.
struct Holder {
  std::uint32_t process = 0;
  std::int32_t thread = -1;  // -1: the process, of which no thread is known
  friend bool operator==(const Holder&, const Holder&) = default;
};

// Stand among a stack's frames for what is not there.
inline constexpr std::uint32_t kGapMark = 0xffff'ffff;   // frames that were left out
inline constexpr std::uint32_t kLostMark = 0xffff'fffe;  // outer frames that the unwinder did not find

struct Group {
  std::vector<std::uint32_t> frames;  // into the tree's frames, or marks; outermost first
  Condition condition;
  std::vector<Holder> holders;  // by rank, main threads first
  bool has_user_code = false;
  std::uint32_t place = 0;  // in the reading order
};

// Stands for the frames [begin, end) of each of the groups [first_group, last_group), which they have in common.
struct Node {
  // What it forks into: a group that ends here, or a node of more frames.
  struct Part {
    bool is_group = false;
    std::uint32_t index = 0;
  };
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t first_group = 0;
  std::uint32_t last_group = 0;
  std::uint32_t place = 0;  // of its first group in the reading order
  std::vector<Part> parts;  // in the reading order
};

struct StackTree {
  std::vector<wire::StackFrame> frames;  // each once, with its full name
  std::vector<FrameClass> classes;       // of each frame
  std::vector<Group> groups;             // by frames
  std::vector<Node> nodes;               // the root first, which has no frames, and each before what it forks into
  std::vector<Holder> own;               // threads of distrun that do what they always do: in no group

  bool is_user(std::uint32_t frame) const { return frame < classes.size() && classes[frame] == FrameClass::User; }
};

StackTree merge(const Stacks& stacks);

// The order of holders: ranks ascend, processes that are none come behind them; a main thread before others.
bool before(const Stacks& stacks, const Holder& a, const Holder& b);

// Whether the thread is its process's first.
bool is_main(const Process& process, const wire::ThreadStack& thread) noexcept;

}  // namespace distrun::evidence
