#include <distrun/runner/attempt/throws.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_class.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>
#include <distrun/runner/record/stack_text.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kPcsMax = wire::kInnerFrames + wire::kOuterFrames;
constexpr std::size_t kUnwinderFramesMax = 8;

// Frames of the unwinder at the innermost end of a stack; sanitizers add some of their own before them.
constexpr const char* kUnwinder[] = {"*__cxa_throw", "*__cxa_rethrow", "*_Unwind_RaiseException",
                                     "*_Unwind_Resume_or_Rethrow", "std::rethrow_exception"};

bool is_bounded(const wire::RawStacks& stack) {
  return stack.threads.size() == 1 && !stack.threads.front().pcs.empty() &&
         stack.threads.front().pcs.size() <= kPcsMax && stack.modules.size() <= kPcsMax;
}

bool is_of_unwinder(const wire::StackFrame& frame) {
  const std::string_view name = evidence::qualified_name(frame.function);
  return std::any_of(std::begin(kUnwinder), std::end(kUnwinder),
                     [name](const char* pattern) { return base::glob_match(pattern, name); });
}

void remove_unwinder(const std::vector<wire::StackFrame>& table, wire::ThreadStack& thread) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(thread.frames.size(), kUnwinderFramesMax); ++i) {
    if (is_of_unwinder(table[thread.frames[i]])) count = i + 1;
  }
  thread.frames.erase(thread.frames.begin(), thread.frames.begin() + static_cast<std::ptrdiff_t>(count));
  if (thread.gap_after >= 0) thread.gap_after -= static_cast<std::int32_t>(count);
}

// A library without debug information could be from anywhere; its caller is more useful.
const wire::StackFrame* place_of(const std::vector<wire::StackFrame>& table, const wire::ThreadStack& thread) {
  for (const std::uint32_t index : thread.frames) {
    const wire::StackFrame& frame = table[index];
    if (!frame.file.empty() && evidence::class_of(frame) == evidence::FrameClass::User) return &frame;
  }
  return evidence::innermost_user_frame(table, thread);
}

// Adds it to the first line, since causes and the like are on later lines. The comma separates it from a text of any
// kind: without it, "no tests in f" could be read as a sentence.
void add_function(std::string& text, const std::string& name) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  text.insert(end, (end == 0 ? "in " : ", in ") + name);
}

}  // namespace

void add_place(RankError& error, const std::vector<wire::StackFrame>& table, wire::ThreadStack& thread) {
  remove_unwinder(table, thread);
  error.stack = stack_text(table, thread);
  const wire::StackFrame* frame = place_of(table, thread);
  if (frame == nullptr) return;
  if (frame->file.empty()) return add_function(error.text, evidence::frame_name(*frame, kFunctionNameMax));
  error.file = frame->file;
  error.line = frame->line;
}

void Throws::add(int rank, std::size_t error, wire::RawStacks stack) {
  const auto of_rank = [rank](const auto& each) { return each.first == rank; };
  const auto known = std::count_if(seen_.begin(), seen_.end(), of_rank);
  if (has_given_up_ || !is_bounded(stack) || known >= static_cast<std::ptrdiff_t>(kNamedMax)) return;
  std::pair<int, std::vector<std::uint64_t>> place(rank, stack.threads.front().pcs);
  const bool is_new = std::find(seen_.begin(), seen_.end(), place) == seen_.end();
  seen_.push_back(std::move(place));
  waiting_.push_back({rank, error, std::move(stack), is_new});
}

Throws::Batch Throws::next_batch() {
  Batch batch;
  if (!naming_.empty()) return batch;
  naming_ = std::exchange(waiting_, {});
  for (Throw& each : naming_) batch.emplace_back(each.rank, std::move(each.stack));
  return batch;
}

void Throws::named(evidence::Stacks stacks, const FindError& find_error) {
  const std::vector<Throw> batch = std::exchange(naming_, {});
  has_given_up_ = stacks.processes.empty();
  if (has_given_up_) waiting_.clear();
  const auto shift = static_cast<std::uint32_t>(told_.table.size());
  for (evidence::Process& process : stacks.processes) {
    const auto index = static_cast<std::size_t>(process.index);
    if (index >= batch.size() || process.threads.size() != 1 || process.threads.front().frames.empty()) continue;
    RankError* error = find_error(batch[index].rank, batch[index].error);
    if (error == nullptr) continue;
    wire::ThreadStack& thread = process.threads.front();
    add_place(*error, stacks.table, thread);
    process.threw = error->type;
    if (!batch[index].is_new || thread.frames.empty()) continue;
    for (std::uint32_t& frame : thread.frames) frame += shift;
    told_.processes.push_back(std::move(process));
  }
  std::move(stacks.table.begin(), stacks.table.end(), std::back_inserter(told_.table));
  told_.cut = told_.cut || stacks.cut;
}

}  // namespace distrun::runner
