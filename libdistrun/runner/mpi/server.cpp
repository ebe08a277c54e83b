#include <distrun/runner/mpi/server.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/environment.hpp>

namespace distrun::mpi {
namespace {

constexpr std::size_t kVariablesMax = 256;  // of a rank
constexpr std::size_t kCallMax = 100;

launch::HelperProcess::Spec spec_of(const Server::Program& program, int line) {
  launch::HelperProcess::Spec spec;
  spec.program = program.path;
  spec.environment = program.environment;
  spec.line = line;
  return spec;
}

// Only names of these libraries are let into ranks.
bool is_of_mpi(const std::string& variable) {
  const std::string_view name = proc::name_of_variable(variable);
  return name.size() < variable.size() && (name.starts_with("PMIX_") || name.starts_with("OMPI_"));
}

bool is_valid(const wire::MpiReady& ready, std::size_t ranks) {
  return ready.ranks.size() == ranks && std::all_of(ready.ranks.begin(), ready.ranks.end(), [](const auto& rank) {
           return rank.variables.size() <= kVariablesMax &&
                  std::all_of(rank.variables.begin(), rank.variables.end(), is_of_mpi);
         });
}

template <class T>
T payload(const wire::Frame& frame) {
  return wire::decode<T>(wire::view_of(frame.payload));
}

}  // namespace

Server::Server(io::Loop& loop, const Program& program, const wire::MpiOrder& order)
    : Server(loop, program, order, base::make_socket_pair(SOCK_STREAM)) {}

Server::Server(io::Loop& loop, const Program& program, const wire::MpiOrder& order, base::FdPair line)
    : loop_(loop),
      members_(static_cast<std::size_t>(order.ranks)),
      ready_(loop),
      process_(loop, spec_of(program, line.second.get()), [this](proc::ExitStatus status) { on_ended(status); }) {
  line.second.reset();
  socket_ =
      std::make_unique<io::FrameSocket>(loop, std::move(line.first), wire::kProtocol<wire::MpiFrame>,
                                        io::FrameSocket::Handlers{[this](const wire::Frame& frame) { on_frame(frame); },
                                                                  [this](const std::string& why) { on_closed(why); }});
  socket_->send(wire::pack(wire::MpiFrame::Order, 0, order));
}

io::Task<std::string> Server::ready(base::Nanoseconds bound) {
  io::Alarm alarm(loop_, [&] { lose("it was not ready within " + base::human(bound)); });
  alarm.set_after(bound);
  co_return co_await ready_.wait();
}

const std::vector<std::string>& Server::variables_of(int rank) const {
  return variables_.at(static_cast<std::size_t>(rank)).variables;
}

void Server::drain() { socket_->drain(); }

void Server::on_frame(const wire::Frame& frame) {
  if (is_lost_) return;
  try {
    handle(frame);
  } catch (const Error& error) {
    lose(std::string("it sent an invalid message: ") + error.what());
  }
}

void Server::handle(const wire::Frame& frame) {
  const int rank = frame.rank;
  if (rank >= size()) throw Error(ErrorKind::InvalidArgument, "rank " + std::to_string(rank) + " is out of range");
  switch (frame.kind_as<wire::MpiFrame>()) {
    case wire::MpiFrame::Ready: return take(payload<wire::MpiReady>(frame));
    case wire::MpiFrame::Joined: return enter(rank, Stage::Joined);
    case wire::MpiFrame::Left: return enter(rank, Stage::Left);
    case wire::MpiFrame::Refused:
    case wire::MpiFrame::Aborted:
    case wire::MpiFrame::Spawned:
    case wire::MpiFrame::Died:
      if (events_ != nullptr) tell(rank, frame);
      return;
    default: throw Error(ErrorKind::InvalidArgument, "it must not send this kind of frame");
  }
}

void Server::take(wire::MpiReady ready) {
  if (ready_.is_set()) throw Error(ErrorKind::InvalidArgument, "it was ready before");
  if (!ready.error.empty()) return lose(base::one_line(ready.error));
  if (!is_valid(ready, members_.size())) throw Error(ErrorKind::InvalidArgument, "its variables are not those of MPI");
  variables_ = std::move(ready.ranks);
  ready_.set("");
}

void Server::enter(int rank, Stage stage) {
  has_joined_ = true;
  members_[static_cast<std::size_t>(rank)] = {stage, loop_.clock().now()};
}

void Server::tell(int rank, const wire::Frame& frame) {
  if (frame.is(wire::MpiFrame::Aborted)) {
    const auto aborted = payload<wire::MpiAborted>(frame);
    events_->on_abort(rank, aborted.code, base::one_line(aborted.child, kCallMax));
  } else if (frame.is(wire::MpiFrame::Refused)) {
    events_->on_refusal(rank, base::one_line(payload<wire::MpiRefused>(frame).call, kCallMax));
  } else if (frame.is(wire::MpiFrame::Spawned)) {
    const auto spawned = payload<wire::MpiSpawned>(frame);
    events_->on_spawned(rank, base::one_line(spawned.program, kCallMax), spawned.pids, base::one_line(spawned.error));
  } else {
    const auto died = payload<wire::MpiDied>(frame);
    const proc::ExitStatus status =
        died.signal != 0 ? proc::ExitStatus::of_signal(died.signal) : proc::ExitStatus::of_code(died.code);
    events_->on_child_died(rank, base::one_line(died.program, kCallMax), status);
  }
}

void Server::add_process(int rank, int pid) {
  socket_->send(wire::pack(wire::MpiFrame::Process, static_cast<std::uint16_t>(rank), wire::MpiProcess{pid}));
}

// How it ended says more, and is known in a moment.
void Server::on_closed(const std::string& why) {
  if (why != "closed") lose("it sent an invalid message: " + why);
}

void Server::on_ended(proc::ExitStatus status) {
  socket_->drain();
  lose("it " + status.describe() + process_.last_words());
}

void Server::lose(std::string why) {
  if (std::exchange(is_lost_, true)) return;
  process_.kill();
  const std::string text = "distrun-pmix, which serves the ranks' MPI, has failed: " + std::move(why);
  if (!ready_.is_set()) return ready_.set(text);
  if (events_ != nullptr) events_->on_server_lost(text);
}

}  // namespace distrun::mpi
