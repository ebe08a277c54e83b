#include <distrun/runner/nodes/trace_messages.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kReasonMax = 1 << 12;  // bytes

void expect_part(bool is_good, const char* what) {
  if (!is_good) throw Error(ErrorKind::InvalidArgument, what);
}

bool is_sound(const NamedThread& thread) { return thread.tid > 0 && thread.name.size() <= trace::kTextSize; }

}  // namespace

void check(const TracePart& part, std::uint32_t count, std::uint64_t records) {
  expect_part(part.slices.size() + part.threads.size() <= count && part.written <= records,
              "more of a trace than there is");
  expect_part(part.why_missing.size() <= kReasonMax, "a reason of impossible length");
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  expect_part(std::all_of(part.slices.begin(), part.slices.end(),
                          [](const trace::Slice& slice) { return trace::is_sound(slice); }),
              "an impossible record of a trace");
#endif
  expect_part(std::all_of(part.threads.begin(), part.threads.end(), is_sound), "a thread with an impossible name");
}

}  // namespace distrun::nodes
