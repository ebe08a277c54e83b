#include <distrun/runner/launch/wrapped_process.hpp>

#include <fstream>
#include <iterator>

#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {
namespace {

constexpr int kDepthMax = 8;  // of commands that start each other

// A process ends each of its arguments with a zero byte.
bool ends_with(pid_t pid, const std::vector<std::string>& words) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string ending(1, '\0');
  for (const std::string& word : words) ending += word + '\0';
  return (std::string(1, '\0') + line).ends_with(ending);
}

}  // namespace

pid_t process_under(pid_t pid, const std::vector<std::string>& ending) {
  for (int depth = 0; depth < kDepthMax && !ending.empty() && ends_with(pid, ending); ++depth) {
    const std::vector<pid_t> children = proc::children_of(pid);
    if (children.empty()) break;
    pid = children.front();
  }
  return pid;
}

}  // namespace distrun::launch
