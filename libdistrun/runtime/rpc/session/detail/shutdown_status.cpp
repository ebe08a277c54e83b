#include <distrun/runtime/rpc/session/detail/shutdown_status.hpp>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kHandlerTextMax = 256;
constexpr int kUnevenTold = 5;  // pairs of workers

std::uint64_t count_of(const std::vector<std::uint64_t>& counts, WorkerId id) {
  return id >= 0 && static_cast<std::size_t>(id) < counts.size() ? counts[static_cast<std::size_t>(id)] : 0;
}

}  // namespace

std::string what_it_does(const Control& status) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  const int running = status.running;
  if (running > 0) add(std::to_string(running) + (running == 1 ? " call running" : " calls running"));
  if (status.waiting > 0) add(std::to_string(status.waiting) + " waiting");
  if (status.handlers > running) {
    add(std::to_string(status.handlers) + (status.handlers == 1 ? " handler running" : " handlers running") +
        (status.handler.empty() ? "" : ": " + base::printable(status.handler.substr(0, kHandlerTextMax))));
  }
  if (!status.is_in_shutdown) add("has not called shutdown");
  return text;
}

std::string what_is_uneven(const ShutdownStatuses& statuses) {
  std::string text;
  int told = 0;
  for (const auto& [from, sender] : statuses) {
    for (const auto& [to, receiver] : statuses) {
      const std::uint64_t sent = count_of(sender.sent_to, to.id()),
                          received = count_of(receiver.received_from, from.id());
      if (sent == received || ++told > kUnevenTold) continue;
      text += (text.empty() ? "" : "; ") + from.name() + " has sent " + std::to_string(sent) +
              (sent == 1 ? " call to " : " calls to ") + to.name() + ", which has received " + std::to_string(received);
    }
  }
  return told > kUnevenTold ? text + "; and " + std::to_string(told - kUnevenTold) + " more pairs" : text;
}

Control status_of(Calls& calls, bool is_in_shutdown) {
  const CallCounts own = calls.counts();
  Control status;
  status.kind = ControlKind::Status;
  status.is_in_shutdown = is_in_shutdown;
  status.running = own.running;
  status.waiting = own.waiting;
  status.handlers = own.handlers;
  const std::vector<future::HandlerPool::Begun> begun = future::handler_pool_of(calls.rank()).begun();
  if (!begun.empty()) {
    const auto& [task, since] = begun.front();
    status.handler = describe(task) + ", for " + base::human(base::system_clock().now() - since);
  }
  status.sent_to = calls.sender().sent().by_peer();
  status.received_from = calls.server().received().by_peer();
  return status;
}

}  // namespace distrun::rpc
