// Reads the stacks of other processes. The coordinator starts it with its line as descriptor 3, sends one order and may
// kill it at any time; see common/wire/stacks.hpp for the protocol. Never loads a plugin.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>

#include "line.hpp"
#include "session.hpp"

namespace {

using namespace distrun;

constexpr int kUsage = 2;
constexpr int kUrgent = -10;

// Returns the error for ProbeDone, or an empty text. The caller destroys the session after the last message.
std::string serve(probe::Line& line, std::optional<probe::Session>& session) {
  try {
    auto order = line.receive_order();
    if (order) session.emplace(line, std::move(*order), probe::NamesCache(probe::NamesCache::find_folder())).run();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

int main() {
  base::mend_inherited_state();
  auto socket = wire::take_helper_line();
  if (!socket) {
    std::fputs("distrun-probe is started by distrun and has no use of its own; try: distrun --help\n", stderr);
    return kUsage;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::setpriority(PRIO_PROCESS, 0, kUrgent);  // if permitted: spinning ranks leave little CPU time
  ::unsetenv("DEBUGINFOD_URLS");            // libdw would query servers for debug information, without a time limit
  probe::Line line(std::move(*socket));
  std::optional<probe::Session> session;
  const std::string error = serve(line, session);
  try {
    line.send(wire::ProbeFrame::Done, wire::ProbeDone{error, session ? session->descendants_left() : 0});
  } catch (const Error&) {
    return 1;  // the coordinator is gone
  }
  return error.empty() ? 0 : 1;
}
