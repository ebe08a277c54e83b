#include "stack_cap.hpp"

#include <utility>

namespace distrun::probe {

void set_frames(wire::ThreadStack& thread, std::vector<std::uint32_t> inner, const std::vector<std::uint32_t>& outer,
                bool gap) {
  const std::size_t gap_at = inner.size();
  std::vector<std::uint32_t>& all = inner;
  all.insert(all.end(), outer.begin(), outer.end());
  const bool too_many = all.size() > wire::kInnerFrames + wire::kOuterFrames;
  if (too_many) {
    all.erase(all.begin() + wire::kInnerFrames, all.end() - wire::kOuterFrames);
  }
  if (too_many) {
    thread.gap_after = static_cast<std::int32_t>(wire::kInnerFrames);
  } else {
    thread.gap_after = gap ? static_cast<std::int32_t>(gap_at) : -1;
  }
  thread.frames = std::move(all);
}

}  // namespace distrun::probe
