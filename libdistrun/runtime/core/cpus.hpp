#pragma once
// The number of CPUs that this process may use: with one CPU a thread that polls keeps the thread that it waits for
// from running.

namespace distrun::core {

int cpus() noexcept;  // at least 1

}  // namespace distrun::core
