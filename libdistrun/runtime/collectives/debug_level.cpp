#include <distrun/runtime/collectives/debug_level.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::collectives {
namespace {

constexpr char kVariable[] = "TORCH_DISTRIBUTED_DEBUG";
constexpr int kUnread = -1;

std::atomic<int> current{kUnread};

DebugLevel read_environment() {
  const char* const value = std::getenv(kVariable);
  if (value == nullptr) return DebugLevel::Off;
  std::string name = value;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  if (name == "OFF" || name.empty()) return DebugLevel::Off;
  if (name == "INFO") return DebugLevel::Info;
  if (name == "DETAIL") return DebugLevel::Detail;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              std::string("the value of ") + kVariable + " must be OFF, INFO, or DETAIL, not \"" + value + "\"");
}

}  // namespace

DebugLevel debug_level() {
  int level = current.load(std::memory_order_relaxed);
  if (level == kUnread) {
    set_debug_level_from_environment();
    level = current.load(std::memory_order_relaxed);
  }
  return static_cast<DebugLevel>(level);
}

void set_debug_level(DebugLevel level) noexcept { current.store(static_cast<int>(level), std::memory_order_relaxed); }

void set_debug_level_from_environment() { set_debug_level(read_environment()); }

int debug_level_number() noexcept { return current.load(std::memory_order_relaxed); }
void restore_debug_level(int number) noexcept { current.store(number, std::memory_order_relaxed); }

const char* name_of(DebugLevel level) noexcept {
  static constexpr const char* kNames[] = {"off", "info", "detail"};
  return kNames[static_cast<std::size_t>(level)];
}

}  // namespace distrun::collectives
