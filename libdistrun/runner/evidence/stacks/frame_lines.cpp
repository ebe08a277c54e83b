#include <distrun/runner/evidence/stacks/frame_lines.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kCycleMax = 3;    // frames in a cycle of calls
constexpr std::size_t kRepeatsMin = 3;  // fewer repetitions are shown in full
constexpr std::size_t kCalledMax = 60;  // bytes of the name of a function called by the test

using Ids = std::vector<std::uint32_t>;

bool is_mark(std::uint32_t frame) { return frame >= kLostMark; }

// Counts how many times in a row the `length` frames at `at` occur.
std::size_t repeats(const Ids& frames, std::size_t at, std::size_t length) {
  std::size_t end = at + length;
  while (end < frames.size() && frames[end] == frames[end - length]) ++end;
  return (end - at) / length;
}

// A line, and the number of frames folded into it.
struct Shown {
  Line line;
  std::size_t frames = 1;
};

class Writer {
 public:
  using Notes = std::map<std::uint32_t, std::string>;  // by frame

  Writer(const StackTree& tree, const SourceNames& names, Notes notes, const FrameLimits& limits, bool is_innermost)
      : tree_(tree), names_(names), notes_(std::move(notes)), limits_(limits), wants_strong_(is_innermost) {}

  // `frames` are innermost first.
  std::vector<Line> write(const Ids& frames);

 private:
  // Consecutive frames that are not the test's.
  struct Run {
    std::size_t frames = 0;
    bool has_library = false;
    bool has_machinery = false;
    std::uint32_t outermost = 0;  // the function that the test called, if the test is on the stack
  };

  bool is_folded(std::uint32_t frame) const;
  Line asked_of_distrun(const Ids& frames) const;
  void take_cycle(const Ids& frames, std::size_t at, std::size_t length, std::size_t count);
  void take_frame(std::uint32_t frame, std::size_t count);
  void add_mark(std::uint32_t mark);
  void add_frame(std::uint32_t frame, std::size_t count);
  void add_run();
  void add_dim(std::string text, std::size_t frames) { shown_.push_back({Line().add(Tone::Dim, text), frames}); }
  std::string called(const Run& run) const;
  std::vector<Line> cut() const;

  const StackTree& tree_;
  const SourceNames& names_;
  const Notes notes_;
  const FrameLimits& limits_;
  bool wants_strong_;
  bool folds_ = true;
  Run run_;
  std::vector<Shown> shown_;
};

std::string name_of_run(bool has_library, bool has_machinery) {
  if (!has_machinery) return "library frames";
  return has_library ? "frames of distrun and libraries" : "frames of distrun";
}

bool Writer::is_folded(std::uint32_t frame) const {
  return folds_ && !is_mark(frame) && !tree_.is_user(frame) && !tree_.frames[frame].signal_frame;
}

std::vector<Line> Writer::write(const Ids& frames) {
  // A stack of library frames only is shown in full; one of distrun's frames, as the function that the test called.
  const auto has = [&](FrameClass is) {
    return std::any_of(frames.begin(), frames.end(),
                       [&](std::uint32_t frame) { return !is_mark(frame) && tree_.classes[frame] == is; });
  };
  folds_ = has(FrameClass::User);
  if (!folds_ && frames.size() > 1 && has(FrameClass::Machinery) && wants_strong_) return {asked_of_distrun(frames)};
  for (std::size_t at = 0; at < frames.size();) {
    std::size_t length = 1;
    std::size_t count = 1;
    for (std::size_t candidate = 1; candidate <= kCycleMax && !is_mark(frames[at]); ++candidate) {
      const std::size_t found = repeats(frames, at, candidate);
      if (found < kRepeatsMin) continue;
      length = candidate;
      count = found;
      break;
    }
    take_cycle(frames, at, length, count);
    at += length * count;
  }
  add_run();
  return cut();
}

Line Writer::asked_of_distrun(const Ids& frames) const {
  Run run;
  bool found = false;
  for (const std::uint32_t frame : frames) {
    ++run.frames;
    if (is_mark(frame)) continue;
    run.has_library |= tree_.classes[frame] == FrameClass::Library;
    run.has_machinery |= tree_.classes[frame] == FrameClass::Machinery;
    const bool is_asked = qualified_name(tree_.frames[frame].function).starts_with("distrun::Rank::");
    if (!found || is_asked) run.outermost = frame;
    found = true;
  }
  return Line().add(Tone::Dim, "in " + called(run));
}

void Writer::take_cycle(const Ids& frames, std::size_t at, std::size_t length, std::size_t count) {
  const auto from = frames.begin() + static_cast<std::ptrdiff_t>(at);
  const auto to = from + static_cast<std::ptrdiff_t>(length);
  if (length == 1 || std::all_of(from, to, [&](std::uint32_t frame) { return is_folded(frame); })) {
    for (auto frame = from; frame != to; ++frame) take_frame(*frame, count);
    return;
  }
  for (auto frame = from; frame != to; ++frame) take_frame(*frame, 1);
  add_run();
  add_dim("  ... these " + std::to_string(length) + " frames " + std::to_string(count) + " times in a row",
          length * (count - 1));
}

void Writer::take_frame(std::uint32_t frame, std::size_t count) {
  if (is_folded(frame)) {
    run_.frames += count;
    run_.has_library |= tree_.classes[frame] == FrameClass::Library;
    run_.has_machinery |= tree_.classes[frame] == FrameClass::Machinery;
    run_.outermost = frame;
    return;
  }
  // The function called by the test's innermost frame is shown below that frame, not above it.
  const bool is_first = wants_strong_ && !is_mark(frame) && tree_.is_user(frame) && shown_.empty();
  const Run before = run_;
  if (is_first) run_ = {};
  add_run();
  if (is_mark(frame)) return add_mark(frame);
  add_frame(frame, count);
  if (is_first && before.frames > 0) add_dim("  in " + called(before), before.frames);
}

void Writer::add_mark(std::uint32_t mark) {
  if (mark == kGapMark) return add_dim("... frames left out ...", 0);
  shown_.push_back({Line().add(Tone::Warn, "... the rest of the stack could not be unwound"), 0});
}

void Writer::add_frame(std::uint32_t index, std::size_t count) {
  const wire::StackFrame& frame = tree_.frames[index];
  Line line;
  if (frame.signal_frame) {
    line.add(Tone::Warn, "<signal handler called>");
  } else {
    const bool is_strong = wants_strong_ && tree_.is_user(index);
    const std::string place = names_.place_of(frame);
    line.add(is_strong ? Tone::Strong : Tone::Plain, frame_name(frame, limits_.name));
    if (!place.empty()) line.add(is_strong ? Tone::Strong : Tone::Plain, "  " + place);
    wants_strong_ = wants_strong_ && !is_strong;
  }
  if (frame.inlined) line.add(Tone::Dim, "  (inlined)");
  if (count > 1) line.add(Tone::Plain, "  (x " + std::to_string(count) + ")");
  if (const auto note = notes_.find(index); note != notes_.end()) line.add(Tone::Dim, "  " + note->second);
  shown_.push_back({std::move(line), count});
}

std::string Writer::called(const Run& run) const {
  const std::string name = frame_name(tree_.frames[run.outermost], kCalledMax);
  if (run.frames == 1) return name;
  return name + ", " + std::to_string(run.frames) + " " + name_of_run(run.has_library, run.has_machinery);
}

void Writer::add_run() {
  if (run_.frames == 0) return;
  if (run_.frames == 1) {
    add_dim("  " + frame_name(tree_.frames[run_.outermost], limits_.name), 1);
  } else {
    add_dim("  ... " + std::to_string(run_.frames) + " " + name_of_run(run_.has_library, run_.has_machinery),
            run_.frames);
  }
  run_ = {};
}

// Innermost lines matter most; the outermost ones show which part of the test is running.
std::vector<Line> Writer::cut() const {
  std::vector<Line> lines;
  const std::size_t room = std::max<std::size_t>(limits_.lines, 4);
  const bool fits = shown_.size() <= room;
  const std::size_t head = fits ? shown_.size() : room - room / 4 - 1;
  const std::size_t tail = fits ? shown_.size() : shown_.size() - room / 4;
  std::size_t left_out = 0;
  for (std::size_t i = head; i < tail; ++i) left_out += shown_[i].frames;
  for (std::size_t i = 0; i < head; ++i) lines.push_back(shown_[i].line);
  if (!fits) lines.push_back(Line().add(Tone::Dim, "... " + std::to_string(left_out) + " frames left out ..."));
  for (std::size_t i = tail; i < shown_.size(); ++i) lines.push_back(shown_[i].line);
  return lines;
}

}  // namespace

std::vector<Line> frame_lines(const StackTree& tree, const SourceNames& names, const FrameRanks& ranks,
                              const FrameRange& range, const FrameLimits& limits) {
  Ids innermost_first;
  for (std::size_t i = range.to; i-- > range.from;) innermost_first.push_back(range.frames[i]);
  return Writer(tree, names, ranks.notes_of(range.frames), limits, range.is_innermost).write(innermost_first);
}

}  // namespace distrun::evidence
