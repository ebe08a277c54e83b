#pragma once
// An event in progress; when it ends, it is passed to its recorder. Begun and ended by recorder.cpp.
#include <memory>
#include <string>

#include <distrun/runtime/profiler/device_pair.hpp>
#include <distrun/runtime/profiler/event.hpp>
#include <distrun/runtime/profiler/memory.hpp>
#include <distrun/runtime/profiler/options.hpp>

namespace distrun::profiler {

class Recorder;  // recorder.hpp

struct Record {
  Event event;
  std::uint64_t order = 0;
  std::unique_ptr<DevicePair> device;        // null: device time is not measured
  std::shared_ptr<const Recorder> recorder;  // null once it has ended
  MemoryCounts memory;                       // of the thread, when it began
  bool is_waited_for = false;                // its thread does no other work meanwhile, wherever it ends

  // Returns the options of the calling thread's profile; null: no event may begin.
  static const ProfileOptions* wanted() noexcept;
  // Begins an event now, on the calling thread; null as above.
  static std::unique_ptr<Record> begin(std::string name);
  // Counts an event of the calling thread's profile as lost.
  static void lose() noexcept;
  // Ends an event now, on any thread; returns the time.
  static base::TimePoint end(std::unique_ptr<Record> record) noexcept;
};

}  // namespace distrun::profiler
