#include "mix.hpp"

#include <algorithm>

namespace distrun::probe::python {
namespace {

using Mixed = std::vector<MixedFrame>;

// Consecutive Python frames that one frame of the loop stands for.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Run> runs_of(const std::vector<bool>& is_entry) {
  std::vector<Run> runs;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < is_entry.size(); ++i) {
    if (!is_entry[i] && i + 1 < is_entry.size()) continue;
    runs.push_back({begin, i + 1});
    begin = i + 1;
  }
  return runs;
}

// If the loop and other functions of the interpreter look the same, the outermost of these stands for it.
std::vector<NativeKind> with_loop(std::vector<NativeKind> native) {
  if (std::find(native.begin(), native.end(), NativeKind::Loop) != native.end()) return native;
  const auto outermost = std::find(native.rbegin(), native.rend(), NativeKind::Interpreter);
  if (outermost != native.rend()) *outermost = NativeKind::Loop;
  return native;
}

enum class Aligned : std::uint8_t { Outermost, Innermost };

// Mixes parts of two stacks.
class Mixer {
 public:
  Mixer(std::vector<NativeKind> native, const std::vector<bool>& is_entry, Aligned aligned)
      : native_(std::move(native)), runs_(runs_of(is_entry)) {
    const auto loops = std::count(native_.begin(), native_.end(), NativeKind::Loop);
    if (aligned == Aligned::Outermost) next_ = static_cast<std::ptrdiff_t>(runs_.size()) - loops;
  }

  // `is_inside`: the part begins with the innermost frame.
  Mixed mix(bool is_inside) {
    bool is_first = true;  // no loop was met yet
    for (std::size_t i = 0; i < native_.size(); ++i) {
      if (native_[i] != NativeKind::Loop) {
        const bool is_kept = native_[i] == NativeKind::Other || (is_inside && is_first);
        if (is_kept) mixed_.push_back({false, i});
        continue;
      }
      if (is_first) add_runs(0, next_);
      add_runs(next_, next_ + 1);
      ++next_;
      is_first = false;
    }
    add_runs(is_first ? 0 : next_, static_cast<std::ptrdiff_t>(runs_.size()));
    return std::move(mixed_);
  }

 private:
  void add_runs(std::ptrdiff_t from, std::ptrdiff_t to) {
    to = std::min(to, static_cast<std::ptrdiff_t>(runs_.size()));
    for (std::ptrdiff_t each = std::max<std::ptrdiff_t>(from, 0); each < to; ++each) {
      const Run& run = runs_[static_cast<std::size_t>(each)];
      for (std::size_t i = run.begin; i < run.end; ++i) mixed_.push_back({true, i});
    }
  }

  const std::vector<NativeKind> native_;
  const std::vector<Run> runs_;
  std::ptrdiff_t next_ = 0;  // the run of the next frame of the loop; below 0: the loop has no more frames
  Mixed mixed_;
};

template <class Frame>
std::vector<Frame> all_of(const StackShape<Frame>& stack) {
  std::vector<Frame> all = stack.inner;
  all.insert(all.end(), stack.outer.begin(), stack.outer.end());
  return all;
}

// The frames behind the last of Python's inner ones follow the gap.
StackShape<MixedFrame> split(Mixed mixed, const StackShape<bool>& python) {
  StackShape<MixedFrame> result;
  result.gap = python.gap;
  const auto is_last = [&](const MixedFrame& frame) {
    return frame.is_python && frame.index + 1 == python.inner.size();
  };
  const auto last = python.gap ? std::find_if(mixed.begin(), mixed.end(), is_last) : mixed.end();
  const auto behind = last == mixed.end() ? last : last + 1;
  result.outer.assign(behind, mixed.end());
  mixed.erase(behind, mixed.end());
  result.inner = std::move(mixed);
  return result;
}

}  // namespace

StackShape<MixedFrame> mix(const StackShape<NativeKind>& native, const StackShape<bool>& python) {
  const bool has_ends = !native.incomplete && !python.incomplete;
  const Aligned aligned = has_ends ? Aligned::Outermost : Aligned::Innermost;
  if (!native.gap) return split(Mixer(with_loop(all_of(native)), all_of(python), aligned).mix(true), python);
  StackShape<MixedFrame> result;
  result.gap = true;
  result.inner = Mixer(with_loop(native.inner), python.inner, Aligned::Innermost).mix(true);
  result.outer = Mixer(native.outer, python.outer, aligned).mix(false);
  for (MixedFrame& frame : result.outer) frame.index += frame.is_python ? python.inner.size() : native.inner.size();
  return result;
}

}  // namespace distrun::probe::python
