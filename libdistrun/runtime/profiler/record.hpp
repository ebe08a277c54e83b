#pragma once
// An event that has begun, until it ends; then its recorder has it. What begins and ends them is recorder.cpp's.
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
  std::unique_ptr<DevicePair> device;        // null: its time is not asked for
  std::shared_ptr<const Recorder> recorder;  // null once it has ended
  MemoryCounts memory;                       // of the thread, when it began
  bool is_waited_for = false;                // its thread does not go on meanwhile, wherever it ends

  // What the calling thread's profile is to record; null: nothing begins in one.
  static const ProfileOptions* wanted() noexcept;
  // Begins now, on the calling thread. Null: as above.
  static std::unique_ptr<Record> begin(std::string name);
  // Of the calling thread's profile: one was lost.
  static void lose() noexcept;
  // Now, on whatever thread; when that was.
  static base::TimePoint end(std::unique_ptr<Record> record) noexcept;
};

}  // namespace distrun::profiler
