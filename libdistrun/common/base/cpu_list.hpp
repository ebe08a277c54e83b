#pragma once
// CPUs by the numbers of the kernel, as lists in its text form: "0-3,8".
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

inline constexpr int kCpuMax = 1 << 16;  // numbers are below this; more than any kernel supports

// Returns the CPUs of a list, ascending and each once. Spaces around it are ignored, and an empty list is one. Empty
// result: it is no list, or a number is not below kCpuMax.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);
// Returns "0-3,8" for ascending CPUs.
std::string cpu_list_text(const std::vector<int>& cpus);

// Returns the CPUs that this thread may run on, ascending. Empty if the kernel does not tell.
std::vector<int> cpus_of_thread();
// Returns their number, at least 1; all CPUs of the machine if the kernel does not tell. Allocates nothing.
int cpu_count_of_thread() noexcept;
// Lets this thread, and those that it starts from now on, run on these CPUs only. Throws Error{Failed} if the kernel
// refuses, for example if they are not usable in this container.
void bind_thread_to(const std::vector<int>& cpus);

}  // namespace distrun::base
