#include "descendants.hpp"

#include <unistd.h>

#include <set>

#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::probe {
namespace {

constexpr std::size_t kLookedAtMax = 1024;

bool is_alive(pid_t pid) {
  const std::uint8_t state = evidence::read_pulse(pid, pid).state;
  return state != 'Z' && state != 'X' && state != '?';
}

std::vector<pid_t> children_of(pid_t pid, const std::vector<wire::AdoptedProcess>& adopted) {
  std::vector<pid_t> children = evidence::children_of(pid);
  for (const wire::AdoptedProcess& each : adopted) {
    if (each.parent == pid && each.pid > 0) children.push_back(each.pid);
  }
  return children;
}

}  // namespace

Descendants descendants_of(const std::vector<pid_t>& pids, std::size_t limit, base::TimePoint end,
                           const std::vector<wire::AdoptedProcess>& adopted) {
  Descendants found;
  if (limit == 0) return found;
  std::set<pid_t> known(pids.begin(), pids.end());
  known.insert(::getpid());
  std::vector<Descendant> queue;
  for (std::size_t i = 0; i < pids.size(); ++i) queue.push_back({pids[i], static_cast<std::int32_t>(i)});
  for (std::size_t next = 0; next < queue.size() && queue.size() < pids.size() + kLookedAtMax; ++next) {
    if (queue[next].pid <= 0) continue;
    if (base::system_clock().now() >= end) break;
    for (const pid_t child : children_of(queue[next].pid, adopted)) {
      if (known.insert(child).second && is_alive(child)) queue.push_back({child, queue[next].of});
    }
  }
  for (std::size_t i = pids.size(); i < queue.size(); ++i) {
    if (found.list.size() < limit)
      found.list.push_back(queue[i]);
    else
      ++found.left_out;
  }
  return found;
}

// describe_other() returns "4711 (sleep 100)".
std::string command_line_of(pid_t pid) {
  const std::string text = evidence::describe_other(pid);
  const std::size_t begin = text.find('(');
  if (begin == std::string::npos || !text.ends_with(')')) return evidence::command_of(pid);
  return text.substr(begin + 1, text.size() - begin - 2);
}

}  // namespace distrun::probe
