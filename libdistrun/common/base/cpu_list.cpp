#include <distrun/common/base/cpu_list.hpp>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

#include <distrun/common/base/error.hpp>

namespace distrun::base {
namespace {

constexpr int kCpusFirst = 1024;  // as cpu_set_t has; the kernel refuses sets that are smaller than its own

struct FreeSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

CpuSet make_set(int cpus) {
  CpuSet set(CPU_ALLOC(static_cast<std::size_t>(cpus)));
  if (!set) throw std::bad_alloc();
  CPU_ZERO_S(CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus)), set.get());
  return set;
}

std::optional<int> number_at(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= kCpuMax) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Adds the CPUs of "8" or "0-3" at the beginning of the text, and removes them from it.
bool take_range(std::string_view& text, std::vector<int>& cpus) {
  const std::optional<int> first = number_at(text);
  if (!first) return false;
  std::optional<int> last = first;
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    last = number_at(text);
  }
  if (!last || *last < *first) return false;
  for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  text = trimmed(text);
  while (!text.empty()) {
    if (!take_range(text, cpus) || cpus.size() > kCpuMax) return std::nullopt;
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < cpus.size(); begin = end) {
    end = begin + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ",";
    text += std::to_string(cpus[begin]);
    if (end - begin > 1) text += "-" + std::to_string(cpus[end - 1]);
  }
  return text;
}

std::vector<int> cpus_of_thread() {
  for (int size = kCpusFirst; size <= kCpuMax; size *= 2) {
    const CpuSet set = make_set(size);
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;  // the kernel's set is larger
      return {};
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < size; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {};
}

void bind_thread_to(const std::vector<int>& cpus) {
  const CpuSet set = make_set(kCpuMax);
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(kCpuMax));
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  if (::sched_setaffinity(0, bytes, set.get()) == 0) return;
  throw Error(ErrorKind::Failed, "OSError",
              "cannot run on the CPUs " + cpu_list_text(cpus) + " only: " + errno_text(errno) +
                  "; CPUs of this machine or container may have been taken away since the run began");
}

}  // namespace distrun::base
