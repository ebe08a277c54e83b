// Another worker's events for a call. Any input is refused, or decodes to events within the call, valid in all views.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/profiler/averages.hpp>
#include <distrun/runtime/profiler/chrome_trace.hpp>
#include <distrun/runtime/profiler/recorder.hpp>
#include <distrun/runtime/profiler/remote_events.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;

base::TimePoint at(std::int64_t ns) { return base::TimePoint(base::Nanoseconds(ns)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const wire::BytesView bytes(reinterpret_cast<const std::byte*>(data), size);
  profiler::decode_options(bytes);
  const profiler::Recorder recorder(profiler::ProfileOptions{});
  const profiler::CalledWorker worker{"rpc_sync#f(a -> b)", 1, at(1000), at(2000)};
  try {
    profiler::add_remote_events(recorder, worker, bytes);
  } catch (const Error&) {
    require(recorder.events().empty(), "what is refused adds nothing");
    return 0;
  }
  const profiler::Events events = recorder.events();
  for (const profiler::Event& each : events) {
    require(each.is_remote && each.node >= 0, "it is said where an event was");
    require(worker.begin <= each.begin && each.begin <= each.end && each.end <= worker.end, "it is within the call");
  }
  require(!profiler::table(profiler::key_averages(events, {.input_shapes = true})).empty(), "there is a table");
  require(!profiler::chrome_trace(events).empty(), "there is a trace");
  return 0;
}
