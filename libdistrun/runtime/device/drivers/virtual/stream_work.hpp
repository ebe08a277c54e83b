#pragma once
// The work on streams of virtual devices, and its slices in a trace, on the track of its stream.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/tracing.hpp>
#include <distrun/runtime/device/driver.hpp>

namespace distrun::device::virtual_gpu {

struct Queue;

// One recording of an event. It is done once the preceding work on its stream is, and stays done. Shared by the event
// and its waiters; the fields belong to the scheduler, except the constant ones.
struct Point {
  bool done = false;
  base::TimePoint at;                // when it was done
  std::optional<base::Error> error;  // of its stream
  std::vector<std::shared_ptr<Queue>> waiting;

  // Constant once the point is pushed.
  std::function<void()> on_done;  // notifies another process; may be empty
  // Asks the other process that recorded it; empty: recorded in this process. If that process has ended, sets `error`
  // and returns true. Called with the scheduler's lock held.
  std::function<bool()> has_arrived;
};

struct Work {
  enum class Kind : std::uint8_t { Kernel, Host, Busy, Record, Wait };
  Kind kind = Kind::Kernel;
  bool delayed = false;
  const char* name = "";         // of a kernel, for a trace; must live until the process ends
  std::function<void()> body;    // Kernel and Host
  base::Nanoseconds length{};    // Busy
  std::shared_ptr<Point> point;  // Record and Wait
};

inline const char* name_of(const Work& work) noexcept {
  switch (work.kind) {
    case Work::Kind::Kernel: return *work.name != '\0' ? work.name : "kernel";
    case Work::Kind::Host: return "host function";
    case Work::Kind::Busy: return "busy";
    case Work::Kind::Record: return "records an event";
    case Work::Kind::Wait: return "waits for an event";
  }
  return "";
}

// The text of `stream` must outlive the slice.
inline trace::SliceInfo slice_of(const Work& work, std::string_view stream) noexcept {
  trace::SliceInfo info;
  info.kind = trace::Kind::StreamWork;
  info.name = name_of(work);
  info.place = stream;
  return info;
}

// Traces work that used no thread: a wait, or a busy time. It ends now.
inline void trace_work(const Work& work, StreamRef on, std::int64_t began_ns) {
  if (trace::Writer* const writer = core::tracer()) {
    const std::string stream = to_string(on);
    writer->add(slice_of(work, stream), began_ns, trace::now_ns());
  }
}

}  // namespace distrun::device::virtual_gpu
