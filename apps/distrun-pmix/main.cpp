// A PMIx server for the ranks of one program: by it they find each other and form a world of MPI. The coordinator
// starts it with its line as descriptor 3, sends one order and may kill it at any time; see common/wire/mpi.hpp for the
// protocol. It is a program of its own because libpmix brings threads, sockets and plugins.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <exception>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>
#include <distrun/common/wire/frame_line.hpp>
#include <distrun/common/wire/mpi.hpp>

#include "host.hpp"
#include "job.hpp"
#include "spawner.hpp"

namespace {

using namespace distrun;

constexpr int kUsage = 2;
constexpr int kTick = 100;  // milliseconds between looks for what only time has changed: late lookups, ended processes

void take(const wire::Frame& frame, pmix::Spawner& spawner) {
  if (!frame.is(wire::MpiFrame::Process)) throw Error(ErrorKind::InvalidArgument, "an order came after the first");
  spawner.add_process(frame.rank, wire::decode<wire::MpiProcess>(wire::view_of(frame.payload)).pid);
}

// Returns false once the coordinator has closed the line.
bool take_frames(wire::FrameLine& line, pmix::Spawner& spawner) {
  auto frame = line.receive();
  if (!frame) return false;
  for (; frame; frame = line.received()) take(*frame, spawner);
  return true;
}

void serve(wire::FrameLine& line, pmix::Host& host, pmix::Spawner& spawner) {
  for (;;) {
    pollfd entries[2]{{line.fd(), POLLIN, 0}, {spawner.fd(), POLLIN, 0}};
    (void)::poll(entries, 2, kTick);
    if (entries[0].revents != 0 && !take_frames(line, spawner)) return;
    spawner.work();
    host.end_late_lookups();
  }
}

int run(wire::FrameLine& line) {
  const auto frame = line.receive();
  if (!frame || !frame->is(wire::MpiFrame::Order)) return 1;
  const auto order = wire::decode<wire::MpiOrder>(wire::view_of(frame->payload));
  pmix::Host host(line);
  pmix::Spawner spawner([&host](const wire::Bytes& packed) { host.send(packed); }, order);
  if (order.may_spawn) host.spawn_by(spawner);
  wire::MpiReady ready;
  try {
    pmix::start_server(order, host.module());
    ready.ranks = pmix::register_job(order, {order.world, {order.ranks}, {}});
  } catch (const Error& error) {
    ready.error = error.what();
  }
  host.tell(wire::MpiFrame::Ready, 0, ready);
  if (!ready.error.empty()) return 1;
  serve(line, host, spawner);
  return 0;
}

}  // namespace

// libpmix is not ended: its thread may wait for ranks, and all its files are in the run's directory, which the
// coordinator removes.
int main() {
  base::mend_inherited_state();
  auto socket = wire::take_helper_line();
  if (!socket) {
    std::fputs("distrun-pmix is started by distrun and has no use of its own; try: distrun exec --help\n", stderr);
    return kUsage;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  wire::FrameLine line(std::move(*socket), wire::kProtocol<wire::MpiFrame>);
  int code = 1;
  try {
    code = run(line);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "distrun-pmix: %s\n", error.what());
  }
  return code;
}
