#pragma once
// An event, from where the object is made to the end of its scope, or to end(). Without a profile it costs one look at
// the thread's state: no clock, no lock, no memory.
//
//   const profiler::Span span("forward");
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

class Recorder;  // recorder.hpp

// It may go to another thread, and end there.
class Span {
 public:
  // Without a name: of one that gets it later, and is not recorded if it ends before that.
  explicit Span(std::string_view name = {}) {
    if (core::thread_state().profiler != nullptr) begin(name);
  }
  ~Span() {
    if (recorder_ != nullptr) end();
  }
  Span(Span&&) noexcept = default;
  Span& operator=(Span&&) = delete;

  // A profile is on for it.
  bool is_recorded() const noexcept { return recorder_ != nullptr; }
  void set_name(std::string name) { event_.name = std::move(name); }
  // More than once is once.
  void end() noexcept;

 private:
  void begin(std::string_view name);

  std::shared_ptr<const Recorder> recorder_;  // null: nothing is recorded, or not any more
  Event event_;
};

}  // namespace distrun::profiler
