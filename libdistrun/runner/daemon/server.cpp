#include <distrun/runner/daemon/server.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/peer.hpp>

namespace distrun::daemon {
namespace {

using wire::DaemonFrame;

constexpr int kFilesPerClient = 2 + static_cast<int>(wire::kSubmitDescriptors);  // also a socket and a pidfd
constexpr int kOtherFiles = 40;

// Does not raise the limit of open files, since the runs inherit it.
int affordable_connections(int wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const auto files = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
  return std::clamp((files - kOtherFiles) / kFilesPerClient, 1, wanted);
}

base::Fd open_spare() { return base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Server::Server(io::Loop& loop, base::Fd listener, ServerOptions options, std::function<void()> on_over)
    : loop_(loop),
      options_(std::move(options)),
      on_over_(std::move(on_over)),
      started_(loop.clock().now()),
      busy_until_(started_),
      runs_(
          loop, options_.program, options_.limits, [this] { end_if_over(); }, options_.log),
      idle_(loop, [this] { on_idle_time(); }),
      spare_(open_spare()) {
  options_.connections_max = affordable_connections(options_.connections_max);
  listener_ = std::make_unique<io::FdWatch>(loop, std::move(listener), [this] { on_connection(); });
  if (options_.idle_exit.count() > 0) idle_.set(started_ + options_.idle_exit);
}

Server::~Server() = default;

void Server::on_connection() {
  base::Fd socket(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    if (errno == EMFILE || errno == ENFILE) shed_connection();
    return;
  }
  if (!base::is_trusted_peer(socket.get())) return;
  if (static_cast<int>(clients_.size()) >= options_.connections_max) return refuse_connection(std::move(socket));
  const int client = next_client_++;
  Session::Handlers handlers;
  handlers.on_submit = [this, client](wire::Submission order, std::vector<base::Fd> descriptors) {
    submit(client, std::move(order), std::move(descriptors));
  };
  handlers.on_signal = [this, client](int number) { runs_.signal(clients_.at(client).run_id, number); };
  handlers.on_cancel = [this, client](const std::string& which) {
    send(client, DaemonFrame::RunsCancelled, runs_.cancel(which));
  };
  handlers.on_question = [this, client] { send(client, DaemonFrame::Status, status()); };
  handlers.on_refusal = [this](const std::string& why) { options_.log.warn("a client was refused: " + why); };
  handlers.on_closed = [this, client] { on_closed(client); };
  clients_[client].session = std::make_unique<Session>(loop_, std::move(socket), std::move(handlers));
}

void Server::refuse_connection(base::Fd socket) {
  const std::string why = "the daemon has " + std::to_string(clients_.size()) + " connections, which is the limit";
  options_.log.warn("a client was refused: " + why);
  const wire::Bytes packed =
      wire::pack(DaemonFrame::Refusal, 0, wire::Refusal{why + "; try again later, or leave --daemon out"});
  (void)::send(socket.get(), packed.data(), packed.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Called if no descriptor is left. Uses the spare one to drop the waiting client, which would be offered forever.
void Server::shed_connection() {
  options_.log.warn("out of descriptors: a client was refused");
  spare_.reset();
  base::Fd(::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC)).reset();
  spare_ = open_spare();
}

void Server::submit(int client, wire::Submission order, std::vector<base::Fd> descriptors) {
  RunEvents events;
  events.on_position = [this, client](int ahead) { send(client, DaemonFrame::RunPosition, wire::RunPosition{ahead}); };
  events.on_started = [this, client](pid_t pid) { send(client, DaemonFrame::RunStarted, wire::RunStarted{pid}); };
  events.on_ended = [this, client](const wire::RunEnded& ended) { on_run_ended(client, ended); };
  const std::string run_id = runs_.add(std::move(order), std::move(descriptors), std::move(events));
  clients_.at(client).run_id = run_id;
  send(client, DaemonFrame::RunAccepted, wire::RunAccepted{run_id, runs_.ahead(run_id)});
}

void Server::on_run_ended(int client, const wire::RunEnded& ended) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.run_id.clear();
  send(client, DaemonFrame::RunEnded, ended);
  found->second.session->close();
}

// Destroys the session later, since this may be called from inside it.
void Server::on_closed(int client) {
  const std::string run_id = std::exchange(clients_.at(client).run_id, "");
  if (!run_id.empty()) runs_.abandon(run_id);
  busy_until_ = loop_.clock().now();
  loop_.post([this, alive = std::weak_ptr(alive_), client] {
    if (alive.expired()) return;
    clients_.erase(client);
    end_if_over();
  });
}

void Server::stop() {
  if (!stopping_) options_.log.info("the daemon is stopping and ending its runs");
  stopping_ = true;
  listener_.reset();
  idle_.cancel();
  runs_.end_all("the daemon was stopped");
  for (auto& [number, client] : clients_) {
    if (client.run_id.empty()) client.session->close();
  }
  end_if_over();
}

void Server::end_if_over() {
  if (stopping_ && runs_.empty() && on_over_) std::exchange(on_over_, {})();
}

void Server::on_idle_time() {
  const base::TimePoint now = loop_.clock().now();
  if (!clients_.empty() || !runs_.empty()) busy_until_ = now;
  if (now - busy_until_ >= options_.idle_exit) {
    options_.log.info("no run for " + base::human(options_.idle_exit) + "; exiting");
    return stop();
  }
  idle_.set(busy_until_ + options_.idle_exit);
}

wire::DaemonStatus Server::status() const {
  wire::DaemonStatus status;
  status.version = options_.version;
  status.pid = ::getpid();
  status.up_ms = std::chrono::duration_cast<base::Milliseconds>(loop_.clock().now() - started_).count();
  status.parallel = options_.limits.parallel;
  status.queued_max = options_.limits.queued;
  status.done = runs_.done();
  status.runs = runs_.status();
  return status;
}

template <class T>
void Server::send(int client, wire::DaemonFrame kind, const T& message) {
  const auto found = clients_.find(client);
  if (found != clients_.end()) found->second.session->send(kind, message);
}

}  // namespace distrun::daemon
