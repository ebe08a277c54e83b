#pragma once
// The classes of the frames of a snapshot, each found once: ranks run the same code, at other addresses.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <distrun/runner/evidence/stacks/frame_class.hpp>

namespace distrun::runner::doctor {

class FrameClasses {
 public:
  // `table` must outlive this.
  explicit FrameClasses(const std::vector<wire::StackFrame>& table) : table_(table), known_(table.size()) {}

  // All indices of a stack must be valid in the table.
  evidence::FrameClass of(std::uint32_t frame);
  // Returns nullptr if the stack has no frame of user code.
  const wire::StackFrame* innermost_user_frame(const wire::ThreadStack& stack);
  // Returns whether the whole stack is known, has code of distrun and none of the user. Threads of the user may have
  // inherited the name of one of distrun's own threads, so a name alone says nothing.
  bool is_of_distrun(const wire::ThreadStack& stack);

 private:
  const std::vector<wire::StackFrame>& table_;
  std::vector<std::optional<evidence::FrameClass>> known_;       // by frame
  std::unordered_multimap<std::size_t, std::uint32_t> by_code_;  // frames with different code, by a hash of it
};

}  // namespace distrun::runner::doctor
