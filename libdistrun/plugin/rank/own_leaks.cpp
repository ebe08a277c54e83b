#include <distrun/plugin/rank/own_leaks.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <utility>

namespace distrun::rank {
namespace {

// Retries, a millisecond apart: a joined thread stays in /proc a little longer, a thread of the runtime has its
// creator's name until it runs, and other threads open files for a moment.
constexpr int kMoments = 200;
constexpr std::clock_t kWorkMax = CLOCKS_PER_SEC / 10;  // CPU time of all retries: many descriptors take long to read
constexpr std::size_t kToldMax = 100;                   // reported descriptors, and threads; the rest is counted
constexpr long kNumbersMax = 1 << 20;                   // descriptors that are tested one by one

// Returns the numeric entries of a directory, without the descriptor that reads it.
std::set<int> numbers_in(const char* path) {
  std::set<int> numbers;
  DIR* directory = ::opendir(path);
  if (directory == nullptr) return numbers;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') numbers.insert(std::atoi(entry->d_name));
  }
  numbers.erase(::dirfd(directory));
  ::closedir(directory);
  return numbers;
}

std::string target_of(int descriptor) {
  char target[256];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : "";
}

// Tests the numbers up to the limit, for a test that has left no descriptor to read the directory with.
std::set<int> descriptors_by_number() {
  std::set<int> numbers;
  const long limit = std::min(::sysconf(_SC_OPEN_MAX), kNumbersMax);
  for (int number = 0; number < limit; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) numbers.insert(number);
  }
  return numbers;
}

std::map<int, std::string> open_descriptors() {
  std::map<int, std::string> descriptors;
  std::set<int> numbers = numbers_in("/proc/self/fd");
  if (numbers.empty()) numbers = descriptors_by_number();  // each process has some
  for (const int number : numbers) {
    std::string target = target_of(number);
    if (!target.empty()) descriptors.emplace(number, std::move(target));  // else it was closed meanwhile
  }
  return descriptors;
}

// If a thread ends while the kernel lists them, a thread after it may be missing. Two lists that agree are complete: a
// thread that has ended is not in the second.
std::set<int> own_threads() {
  std::set<int> threads = numbers_in("/proc/self/task");
  for (int i = 0; i < kMoments; ++i) {
    std::set<int> again = numbers_in("/proc/self/task");
    if (again == threads) break;
    threads = std::move(again);
  }
  return threads;
}

std::string name_of(int thread) {
  std::string name;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/comm"), name);
  return name;
}

// State that the runtime keeps for the process after its first use is not a leak. It is recognised by the names that
// runtime/autograd/device_worker.cpp, tensor/core/parallel.cpp, future/handler_pool.cpp and device/virtual set.
// (Threads without a name have the program's.)
bool is_of_runtime(const std::string& name) {
  return name.starts_with("distrun-ag ") || name.starts_with("distrun-op") || name.starts_with("distrun-pool") ||
         name.starts_with("distrun-vgpu") || name.starts_with("/memfd:distrun ");
}

std::map<int, std::string> new_descriptors(const std::map<int, std::string>& old) {
  std::map<int, std::string> descriptors = open_descriptors();
  std::erase_if(descriptors, [&old](const auto& one) {
    const auto same = old.find(one.first);
    return (same != old.end() && same->second == one.second) || is_of_runtime(one.second);
  });
  return descriptors;
}

std::set<int> new_threads(const std::set<int>& old) {
  std::set<int> threads = own_threads();
  for (const int thread : old) threads.erase(thread);
  std::erase_if(threads, [](int thread) { return is_of_runtime(name_of(thread)); });
  return threads;
}

// Adds the first ones, and the number of the others.
void tell(std::vector<wire::LeakReport>& leaks, bool thread, const std::vector<std::string>& all) {
  const std::size_t told = std::min(all.size(), kToldMax);
  for (std::size_t i = 0; i < told; ++i) leaks.push_back({thread, all[i]});
  if (told < all.size()) leaks.push_back({thread, std::to_string(all.size() - told) + " more"});
}

}  // namespace

OwnLeaks::OwnLeaks() : descriptors_(open_descriptors()), threads_(own_threads()) {}

// Ignores what appears during the retries: it belongs to another thread.
std::vector<wire::LeakReport> OwnLeaks::look() const {
  std::map<int, std::string> descriptors = new_descriptors(descriptors_);
  std::set<int> threads = new_threads(threads_);
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kMoments && !(descriptors.empty() && threads.empty()); ++i) {
    if (std::clock() - begin > kWorkMax) break;
    ::poll(nullptr, 0, 1);
    std::erase_if(descriptors, [](const auto& one) { return target_of(one.first) != one.second; });
    threads = new_threads(threads_);
  }
  std::vector<std::string> open, running;
  for (const auto& [number, target] : descriptors) open.push_back(std::to_string(number) + " (" + target + ")");
  for (const int thread : threads) running.push_back(std::to_string(thread) + " (" + name_of(thread) + ")");
  std::vector<wire::LeakReport> leaks;
  tell(leaks, false, open);
  tell(leaks, true, running);
  return leaks;
}

}  // namespace distrun::rank
