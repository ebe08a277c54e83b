#include "rpc_state.hpp"

namespace distrun::suites {

PerRank<Future<std::int64_t>>& promise() {
  static PerRank<Future<std::int64_t>> all;
  return all;
}
PerRank<Future<void>>& event() {
  static PerRank<Future<void>> all;
  return all;
}
PerRank<std::atomic<std::int64_t>>& counter() {
  static PerRank<std::atomic<std::int64_t>> all;
  return all;
}

void renew_state() {
  promise().renew();
  event().renew();
  counter().renew();
}

}  // namespace distrun::suites
