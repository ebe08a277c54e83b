#include <distrun/runtime/rpc/calls/handler_wait.hpp>

#include <algorithm>
#include <cstdio>

namespace distrun::rpc {

void HandlerWait::add(base::Nanoseconds waited) noexcept {
  calls_.fetch_add(1, std::memory_order_relaxed);
  total_ns_.fetch_add(waited.count(), std::memory_order_relaxed);
}

void HandlerWait::add_debug_info(std::map<std::string, std::string>& info) const {
  if (!is_on()) return;
  const auto calls = std::max<std::uint64_t>(calls_.load(std::memory_order_relaxed), 1);
  char text[40];
  std::snprintf(text, sizeof text, "%.3f",
                static_cast<double>(total_ns_.load(std::memory_order_relaxed)) / 1e3 / static_cast<double>(calls));
  info["agent.gil_average_wait_time_us"] = text;
}

}  // namespace distrun::rpc
