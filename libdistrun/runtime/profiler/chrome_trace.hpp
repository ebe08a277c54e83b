#pragma once
// Events as JSON for chrome://tracing, Perfetto and others.
#include <cstdint>
#include <string>

#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

// The outermost JSON value.
enum class TraceForm : std::uint8_t {
  List,    // [ ... ]
  Object,  // {"traceEvents": [ ... ]}
};

// Returns a line for each event, and one for each kernel.
std::string chrome_trace(const Events& events, TraceForm form = TraceForm::List);
// Throws Error{Failed} if the file can't be written.
void write_chrome_trace(const std::string& path, const Events& events, TraceForm form = TraceForm::List);

}  // namespace distrun::profiler
