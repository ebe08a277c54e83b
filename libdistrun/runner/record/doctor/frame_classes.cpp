#include <distrun/runner/record/doctor/frame_classes.hpp>

#include <algorithm>
#include <functional>
#include <string>

namespace distrun::runner::doctor {

using evidence::FrameClass;

namespace {

std::size_t hash_of(const wire::StackFrame& frame) {
  const std::hash<std::string> hash;
  return hash(frame.function) * 31 + hash(frame.file);
}

bool is_same_code(const wire::StackFrame& a, const wire::StackFrame& b) {
  return a.function == b.function && a.file == b.file && a.module == b.module;
}

}  // namespace

FrameClass FrameClasses::of(std::uint32_t frame) {
  if (known_[frame]) return *known_[frame];
  const std::size_t hash = hash_of(table_[frame]);
  const auto [begin, end] = by_code_.equal_range(hash);
  const auto same =
      std::find_if(begin, end, [&](const auto& each) { return is_same_code(table_[each.second], table_[frame]); });
  known_[frame] = same != end ? *known_[same->second] : evidence::class_of(table_[frame]);
  if (same == end) by_code_.emplace(hash, frame);
  return *known_[frame];
}

const wire::StackFrame* FrameClasses::innermost_user_frame(const wire::ThreadStack& stack) {
  for (const std::uint32_t frame : stack.frames) {
    if (of(frame) == FrameClass::User) return &table_[frame];
  }
  return nullptr;
}

bool FrameClasses::is_of_distrun(const wire::ThreadStack& stack) {
  if (stack.frames.empty() || stack.incomplete || stack.gap_after >= 0) return false;
  const auto is = [&](FrameClass wanted) {
    return std::any_of(stack.frames.begin(), stack.frames.end(),
                       [&](std::uint32_t each) { return of(each) == wanted; });
  };
  return is(FrameClass::Machinery) && !is(FrameClass::User);
}

}  // namespace distrun::runner::doctor
