#pragma once
// An event, from where the object is made to the end of its scope, or to end(). Without a profile it costs one look at
// the thread's state: no clock, no lock, no memory. If its rank is traced (core/tracing.hpp) it is in the trace, too,
// whether or not there is a profile.
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

// It may go to another thread, and end there: it is asynchronous then.
class Span {
 public:
  // Without a name: of one that gets it later, and is not recorded if it ends before that.
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

  // A profile is on for it. The others do nothing where none is.
  bool is_recorded() const noexcept { return record_ != nullptr; }
  void set_name(std::string name);
  void set_async();  // its thread goes on meanwhile
  void add_note(std::string name, std::string text);
  // More than once is once.
  void end() noexcept;
  // It is not recorded.
  void drop() noexcept;

 private:
  void begin(std::string_view name);
  void trace(std::string_view name) noexcept;
  void end_slice() noexcept;

  Record* record_ = nullptr;  // null: nothing is recorded, or not any more
  trace::Writer* writer_ = nullptr;
  std::uint64_t slice_ = 0;  // in its trace; 0: none, or not any more
};

}  // namespace distrun::profiler
