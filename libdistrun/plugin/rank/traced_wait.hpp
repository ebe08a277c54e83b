#pragma once
// Records the waits of a rank in its trace, in addition to its board.
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/common/trace/writer.hpp>

namespace distrun::rank {

// Converts a wait for the trace; valid as long as `info`.
trace::SliceInfo slice_of(const board::WaitInfo& info) noexcept;

// Records a wait from construction to destruction; nothing if `writer` is null.
class TracedWait {
 public:
  TracedWait(trace::Writer* writer, const board::WaitInfo& info) noexcept
      : writer_(writer), number_(writer != nullptr && writer->is_on() ? writer->begin(slice_of(info)) : 0) {}
  ~TracedWait() {
    if (number_ != 0) writer_->end(number_);
  }
  TracedWait(const TracedWait&) = delete;
  TracedWait& operator=(const TracedWait&) = delete;

 private:
  trace::Writer* const writer_;
  const std::uint64_t number_;
};

}  // namespace distrun::rank
