#include "rpc_waits.hpp"

#include <regex>
#include <thread>

#include <distrun/common/base/deadline.hpp>
#include <distrun/rpc.hpp>

#include "rpc_callees.hpp"

namespace distrun::suites {
namespace {

constexpr std::chrono::milliseconds kRest{10};

}  // namespace

std::string wait_until_node_failure(int rank, const std::string& pattern, base::Nanoseconds limit) {
  const auto end = base::deadline_after(limit);
  const std::regex wanted(pattern);
  std::string last = "it answers";
  while (std::chrono::steady_clock::now() < end) {
    try {
      rpc_sync("worker" + std::to_string(rank), noop);
      last = "it answers";
    } catch (const Error& error) {
      last = error.what();
      if (std::regex_search(last, wanted)) return last;
    }
    std::this_thread::sleep_for(kRest);
  }
  throw Error(ErrorKind::Timeout, "TimeoutError",
              "worker" + std::to_string(rank) + " has not failed with \"" + pattern + "\": " + last);
}

}  // namespace distrun::suites
