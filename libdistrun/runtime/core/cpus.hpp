#pragma once
// The number of CPUs that the ranks of this test may use together: with one CPU a thread that polls keeps the thread
// that it waits for from running. DISTRUN_CPUS if the ranks are bound, each to its own; else the CPUs of this process.

namespace distrun::core {

int cpus() noexcept;  // at least 1

}  // namespace distrun::core
