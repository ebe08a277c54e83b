#include <distrun/common/base/cpu_list.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <numeric>

#include <distrun/common/base/error.hpp>

namespace distrun::base {
namespace {

// As large as any kernel's set, which may be larger than a cpu_set_t.
struct CpuSet {
  static constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, kCpuMax / kWordBits> words{};

  bool read_own() noexcept { return ::sched_getaffinity(0, sizeof words, as_set()) == 0; }
  bool write_own() noexcept { return ::sched_setaffinity(0, sizeof words, as_set()) == 0; }
  bool has(int cpu) const noexcept { return (words[word_of(cpu)] & bit_of(cpu)) != 0; }
  void add(int cpu) noexcept { words[word_of(cpu)] |= bit_of(cpu); }
  int count() const noexcept {
    return std::accumulate(words.begin(), words.end(), 0, [](int sum, auto word) { return sum + std::popcount(word); });
  }

 private:
  static std::size_t word_of(int cpu) noexcept { return static_cast<std::size_t>(cpu) / kWordBits; }
  static unsigned long bit_of(int cpu) noexcept { return 1UL << (static_cast<std::size_t>(cpu) % kWordBits); }
  cpu_set_t* as_set() noexcept { return reinterpret_cast<cpu_set_t*>(words.data()); }
};

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
  CpuSet set;
  std::vector<int> cpus;
  if (!set.read_own()) return cpus;
  for (int cpu = 0; cpu < kCpuMax; ++cpu) {
    if (set.has(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

int cpu_count_of_thread() noexcept {
  CpuSet set;
  return std::max(1, set.read_own() ? set.count() : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

void bind_thread_to(const std::vector<int>& cpus) {
  CpuSet set;
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < kCpuMax) set.add(cpu);
  }
  if (set.write_own()) return;
  throw Error(ErrorKind::Failed, "OSError",
              "cannot run on the CPUs " + cpu_list_text(cpus) + " only: " + errno_text(errno) +
                  "; CPUs of this machine or container may have been taken away since the run began");
}

}  // namespace distrun::base
