#pragma once
// How many CPUs this process may run on: whether whoever is waited for can run while one looks.

namespace distrun::core {

int cpus() noexcept;  // at least 1

}  // namespace distrun::core
