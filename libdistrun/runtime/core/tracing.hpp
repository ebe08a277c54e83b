#pragma once
// The runtime's part of a rank's trace, if one is requested (distrun run --trace). Waits are not written here:
// distrun-rank traces every wait on the board. Without a trace it costs one load. Any thread; nothing blocks or
// allocates.
#include <distrun/common/trace/writer.hpp>
#include <distrun/runtime/core/is_traced.hpp>

namespace distrun::core {

class RankState;  // rank_state.hpp

namespace detail {
trace::Writer* tracer_of_thread() noexcept;
}  // namespace detail

// Returns the writer of the calling thread's rank; null: not traced.
inline trace::Writer* tracer() noexcept { return is_traced() ? detail::tracer_of_thread() : nullptr; }

// Returns the current time, for the begin of a slice that is described later; 0 if nothing is traced.
inline std::int64_t trace_now() noexcept { return is_traced() ? trace::now_ns() : 0; }

// Called before each test of the rank. Attaches to the trace memory that the environment names, if any.
void trace_rank(RankState& state, int rank);

// A slice of the calling thread's trace, from construction to destruction.
class TraceSlice {
 public:
  // `info()` describes the slice; called only if there is a trace. Null writer: no trace.
  template <class Info>
  TraceSlice(trace::Writer* writer, const Info& info) noexcept
      : writer_(writer), number_(writer != nullptr ? writer->begin(info()) : 0) {}
  template <class Info>
  TraceSlice(trace::Writer* writer, const Info& info, std::int64_t begin_ns) noexcept
      : writer_(writer), number_(writer != nullptr ? writer->begin(info(), begin_ns) : 0) {}
  ~TraceSlice() {
    if (number_ != 0) writer_->end(number_);
  }
  TraceSlice(const TraceSlice&) = delete;
  TraceSlice& operator=(const TraceSlice&) = delete;

 private:
  trace::Writer* const writer_;
  const std::uint64_t number_;
};

}  // namespace distrun::core
