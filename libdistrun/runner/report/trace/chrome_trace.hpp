#pragma once
// Formats a trace in the Trace Event Format of ui.perfetto.dev and chrome://tracing: a process for each rank, a track
// for each of its threads and streams, slices, and arrows from calls to their handlers and back.
#include <string>

#include <distrun/runner/record/trace_sink.hpp>

namespace distrun::report {

std::string chrome_trace(const runner::TracedAttempt& traced);

}  // namespace distrun::report
