#pragma once
// An event from the object's creation to the end of its scope, or to end(). Without a profile it costs one read of the
// thread's state: no clock, no lock, no memory. If the rank is traced (core/tracing.hpp), it is also in the trace, with
// or without a profile.
//
//   const profiler::Span span("forward");
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <distrun/runtime/core/is_traced.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::trace {
class Writer;
}

namespace distrun::profiler {

struct Record;  // record.hpp

// It may be moved to another thread, and end there: it is asynchronous then.
class Span {
 public:
  // A span without a name may get one later, and is not recorded if it ends before that.
  explicit Span(std::string_view name = {}) {
    if (core::thread_state().profiler != nullptr) begin(name);
    if (core::is_traced()) trace(name);
  }
  ~Span() {
    if (record_ != nullptr || slice_ != 0) end();
  }
  Span(Span&& other) noexcept
      : record_(std::exchange(other.record_, nullptr)),
        writer_(other.writer_),
        slice_(std::exchange(other.slice_, 0)) {}
  Span& operator=(Span&&) = delete;

  // Returns whether a profile records it.
  bool is_recorded() const noexcept { return record_ != nullptr; }
  // Sets the name. Does nothing unless recorded, like the next functions.
  void set_name(std::string name);
  void set_async();  // its thread does other work meanwhile
  // Adds data, shown in the event's notes.
  void add_note(std::string name, std::string text);
  // Ends the event. Idempotent.
  void end() noexcept;
  // Discards the event.
  void drop() noexcept;

 private:
  void begin(std::string_view name);
  void trace(std::string_view name) noexcept;
  void end_slice() noexcept;

  Record* record_ = nullptr;  // null: not recorded, or ended
  trace::Writer* writer_ = nullptr;
  std::uint64_t slice_ = 0;  // in its trace; 0: none, or ended
};

}  // namespace distrun::profiler
