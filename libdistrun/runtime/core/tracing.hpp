#pragma once
// What the runtime writes down of what a rank does, where somebody wants a trace of it (distrun run --trace). Its waits
// are there already, as whoever runs the rank sees them: all of these are on the board. Without a trace it costs one
// load. Any thread; nothing blocks or allocates.
#include <distrun/common/trace/writer.hpp>
#include <distrun/runtime/core/is_traced.hpp>

namespace distrun::core {

class RankState;  // rank_state.hpp

namespace detail {
trace::Writer* tracer_of_thread() noexcept;
}  // namespace detail

// Of the rank whose work the calling thread does; null: nothing is written.
inline trace::Writer* tracer() noexcept { return is_traced() ? detail::tracer_of_thread() : nullptr; }

// When it is now, for the begin of a slice of which more is known later; 0 where nothing is traced.
inline std::int64_t trace_now() noexcept { return is_traced() ? trace::now_ns() : 0; }

// Before each test of the rank: into the memory that its environment names, if it names one.
void trace_rank(RankState& state, int rank);

// A slice of the calling thread, from construction to destruction.
class TraceSlice {
 public:
  // `info()` says what it is; it is asked where there is a trace. Null: there is none.
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
