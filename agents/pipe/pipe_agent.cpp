#include <agents/pipe/pipe_agent.hpp>

#include <algorithm>
#include <utility>

#include <agents/pipe/transports/listener.hpp>
#include <agents/pipe/transports/socket_stream.hpp>
#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/runtime/core/shared_memory.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/successor.hpp>

namespace distrun::agents::pipe {
namespace {

Link::Limit limit_of(const rpc::Message& message) noexcept {
  if (message.kind == rpc::MessageKind::Call && message.is_limited) return Link::Limit::Call;
  return message.kind == rpc::MessageKind::Reply ? Link::Limit::Reply : Link::Limit::None;
}

IoThread::Requests request_for(const Link& link) {
  return IoThread::request(link.peer().key(), link.peer().name(), link.address());
}

constexpr base::Nanoseconds kLooks = std::chrono::milliseconds(10);  // limit of probing an exiting worker's address

}  // namespace

PipeAgent::PipeAgent(PipeSetting setting)
    : setting_(std::move(setting)),
      rank_(core::rank_state()),
      pool_(future::handler_pool_of(rank_)),
      reactor_(std::make_shared<Reactor>(pool_, static_cast<rpc::Receiver&>(*this))),
      io_thread_(std::make_unique<IoThread>(setting_.identity, Listener(setting_.has_uds, setting_.tcp_host),
                                            static_cast<IoThreadEvents&>(*this), setting_.handshake_limit)) {}

// A forked process must not touch its parent's links, rings and sockets.
PipeAgent::~PipeAgent() {
  if (!mark_.is_inherited()) {
    close(base::Nanoseconds(0));
    return;
  }
  base::leave_to_parent(std::move(io_thread_));
  base::leave_to_parent(std::move(reactor_));
  base::leave_to_parent(std::move(links_));
}

std::vector<rpc::WorkerInfo> PipeAgent::worker_infos() const {
  std::vector<rpc::WorkerInfo> workers{setting_.worker};
  for (const LinkPtr& each : links()) workers.push_back(each->peer());
  std::sort(workers.begin(), workers.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
  return workers;
}

std::vector<PipeAgent::LinkPtr> PipeAgent::links() const {
  std::vector<LinkPtr> all;
  const std::shared_lock lock(mutex_);
  for (const auto& [id, link] : links_) all.push_back(link);
  return all;
}

PipeAgent::LinkPtr PipeAgent::next(WorkerId& id) const noexcept {
  const std::shared_lock lock(mutex_);
  const auto found = links_.upper_bound(id);
  if (found == links_.end()) return nullptr;
  id = found->first;
  return found->second;
}

PipeAgent::LinkPtr PipeAgent::find(WorkerId id) const noexcept {
  const std::shared_lock lock(mutex_);
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second;
}

PipeAgent::LinkPtr PipeAgent::find(rpc::WorkerKey worker) const noexcept {
  LinkPtr link = find(worker.id);
  return link != nullptr && link->peer().key().matches(worker) ? link : nullptr;
}

PipeAgent::LinkPtr PipeAgent::get(rpc::WorkerKey worker) const {
  LinkPtr link = find(worker.id);
  if (link != nullptr && link->peer().key().matches(worker)) return link;
  if (link != nullptr) throw rpc::replaced_error(link->peer());
  if (is_closed_.load()) throw Error(ErrorKind::Disconnected, "RPC is no longer running on this node");
  throw Error(ErrorKind::InvalidArgument,
              setting_.worker.name() + " does not know a worker with the id " + std::to_string(worker.id));
}

void PipeAgent::put(LinkPtr link) {
  const WorkerId id = link->peer().id();
  LinkPtr before;
  {
    const std::unique_lock lock(mutex_);
    if (is_closed_.load()) return;
    before = std::exchange(links_[id], std::move(link));
  }
  try {
    reactor_->set_links(links());
  } catch (...) {
    const std::unique_lock lock(mutex_);
    links_[id] = std::move(before);
    if (links_[id] == nullptr) links_.erase(id);
    throw;
  }
}

// If the I/O thread has changed the worker's link meanwhile, it looks again.
void PipeAgent::add_worker(const rpc::WorkerRecord& record) {
  parse_address(record.address);
  const WorkerId id = record.worker.id();
  if (id == setting_.worker.id()) return;
  for (;;) {
    const LinkPtr known = find(id);
    if (known != nullptr && !known->is_over() && known->peer().matches(record.worker)) return;
    if (known != nullptr && rpc::is_successor(known->peer(), record.worker)) throw rpc::outdated_error(record.worker);
    if (known != nullptr) end_replaced(*known);
    {
      const std::lock_guard publishing(publishing_);
      if (find(id) != known) continue;
      if (known != nullptr) io_thread_->forget(id);  // first: it also ends attempts to connect
      put(std::make_shared<Link>(record.worker, record.address));
    }
    if (known != nullptr) known->close();
    return;
  }
}

void PipeAgent::end_replaced(Link& link) noexcept {
  link.end(Link::State::Lost,
           base::error_or_shortage(ErrorKind::Disconnected, [&] { return rpc::replaced_error(link.peer()); }));
  reactor_->tell_end(link);
}

// Retries for a moment: a dying process closes its descriptors one by one. A process forked from it may keep them.
bool PipeAgent::is_gone(const rpc::WorkerRecord& record) const {
  const LinkPtr link = find(record.worker.key());
  if (link != nullptr && (link->state() == Link::State::Left || link->process().has_died())) return true;
  const Address address = parse_address(record.address);
  board::WaitInfo info;
  info.kind = board::WaitKind::Send;
  info.name = "the end of an agent";
  std::string shortage;
  const base::TimePoint deadline = base::system_clock().now() + kLooks;
  const core::WaitEnd end = core::poll_for_peers(info, deadline, std::chrono::milliseconds(1), [&] {
    try {
      return is_deserted(address);
    } catch (const Error& error) {
      shortage = error.text();
      return false;
    }
  });
  if (end == core::WaitEnd::Ready) return true;
  if (shortage.empty()) return false;
  throw Error(ErrorKind::Overloaded,
              "cannot find out whether " + record.worker.name() + " is still there: " + shortage);
}

void PipeAgent::remove_worker(rpc::WorkerKey worker) noexcept {
  LinkPtr link;
  {
    const std::lock_guard publishing(publishing_);
    link = find(worker);
    if (link == nullptr) return;
    io_thread_->forget(worker.id);
    {
      const std::unique_lock lock(mutex_);
      links_.erase(worker.id);
    }
    base::if_memory(
        [this] { reactor_->set_links(links()); });  // else it visits the link, which is over, until the next change
  }
  link->dismiss(base::error_or_shortage(
      ErrorKind::Disconnected, [&] { return Error(ErrorKind::Disconnected, link->peer().name() + " has left"); }));
  link->close();
}

void PipeAgent::start(rpc::Receiver& receiver) {
  receiver_.store(&receiver);
  if (setting_.handlers > 0) pool_.set_wanted(setting_.handlers);
  pool_.use(reactor_);
  io_thread_->start();
}

std::unique_ptr<future::HandlerTask> PipeAgent::receive(const rpc::WorkerInfo& from, rpc::Message message) noexcept {
  rpc::Receiver* const receiver = receiver_.load(std::memory_order_acquire);
  return receiver == nullptr ? nullptr : receiver->receive(from, std::move(message));
}

void PipeAgent::lose(const rpc::WorkerInfo& peer, const base::Error& why) noexcept {
  if (rpc::Receiver* const receiver = receiver_.load(std::memory_order_acquire)) receiver->lose(peer, why);
}

void PipeAgent::send(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency) {
  rpc::refuse_forked(mark_, base::Location::here());
  const LinkPtr link = get(to);
  const Link::Limit limit = limit_of(message);
  // Made before the link begins to connect: it would wait in vain for a request that there is no memory for.
  IoThread::Requests request;
  if (link->state() == Link::State::Idle) request = request_for(*link);
  switch (link->send(std::move(message), limit)) {
    case Link::Sent::MustConnect: io_thread_->connect(std::move(request)); return;
    case Link::Sent::Queued:
      if (link->state() == Link::State::Up && !link->is_shm()) io_thread_->want_writable(to.id);
      break;
    case Link::Sent::Written: break;
    case Link::Sent::Ended: return reactor_->tell_end(*link);
  }
  switch (urgency) {
    case rpc::Urgency::Answer: return link->ring_later();
    case rpc::Urgency::Later: return link->ring();
    case rpc::Urgency::Whenever: return link->owe_bell();
  }
}

bool PipeAgent::has_room(rpc::WorkerKey to) const noexcept {
  const LinkPtr link = find(to);
  return link == nullptr || link->has_room();
}

// A connected peer is watched already. An unconnected one is connected to, which fails if nothing listens there.
void PipeAgent::look_after(rpc::WorkerKey peer) noexcept {
  const LinkPtr link = find(peer);
  if (link == nullptr || !link->begin_meeting()) return;
  try {
    io_thread_->connect(request_for(*link));
  } catch (const Error& why) {
    failed(link->peer().key(), why);
  } catch (const std::exception&) {
    failed(link->peer().key(), base::out_of_memory(ErrorKind::Disconnected));
  }
}

void PipeAgent::give_up(rpc::WorkerKey peer, const base::Error& why) noexcept {
  const LinkPtr link = find(peer);
  if (link == nullptr || link->is_over()) return;
  link->give_up(why);
  reactor_->tell_end(*link);
}

void PipeAgent::make_room(const Hello& hello) {
  const LinkPtr link = find(hello.id);
  if (link == nullptr || !rpc::is_successor(rpc::WorkerInfo(hello.worker, {hello.id, hello.incarnation}), link->peer()))
    return;
  io_thread_->forget_here(hello.id);
  link->drain(*reactor_);
  end_replaced(*link);
}

namespace {

Refusal refused(std::string why) { return {RefusalKind::Final, std::move(why)}; }

}  // namespace

std::optional<Refusal> PipeAgent::refuse(const Hello& hello) {
  if (is_closed_.load()) {  // without the reason, the peer would blame this worker for a death elsewhere
    const std::shared_lock lock(mutex_);
    return Refusal{RefusalKind::Final, setting_.worker.name() + " is closing" + (end_.empty() ? "" : ": " + end_),
                   end_because_of_};
  }
  const LinkPtr link = find(hello.id);
  const rpc::WorkerInfo worker(hello.worker, {hello.id, hello.incarnation});
  if (link != nullptr && rpc::is_successor(link->peer(), worker))
    return refused(hello.worker + " has left: another worker has its id");
  if (link != nullptr && !link->is_over() && !link->peer().matches(worker)) {
    return refused("the worker with the id " + std::to_string(hello.id) + " is " + link->peer().name() + " here");
  }
  if (link != nullptr && link->state() == Link::State::Up) return refused(hello.worker + " is already connected");
  if ((link == nullptr || link->is_over()) && !setting_.takes_strangers) {
    return refused(hello.worker + (link == nullptr ? " is not a worker of this group" : " has left this group"));
  }
  return std::nullopt;
}

std::vector<base::Fd> PipeAgent::fds_for_hello(WorkerId) {
  std::vector<base::Fd> fds;
  fds.push_back(RingPair::make_memfd());
  fds.push_back(reactor_->door().duplicate_fd());
  return fds;
}

std::vector<int> PipeAgent::fds_for_welcome(const Hello&, std::string_view transport) {
  if (transport != "shm") return {};
  return {reactor_->door().fd()};
}

// The connector has created the rings; each end has the other's door.
std::unique_ptr<Stream> PipeAgent::stream_of(Connection& connection) {
  if (connection.transport != "shm") return std::make_unique<SocketStream>(std::move(connection.socket));
  const bool is_maker = connection.is_connector;
  std::vector<base::Fd>& rings = is_maker ? connection.own_fds : connection.fds;
  const std::size_t door = is_maker ? 0 : 1;
  if (rings.empty() || connection.fds.size() <= door) {
    throw Error(ErrorKind::InvalidArgument, "the peer did not send its shared memory");
  }
  return std::make_unique<ShmStream>(std::make_unique<RingPair>(std::move(rings.front()), is_maker),
                                     std::make_unique<Door>(connection.fds[door]));
}

void PipeAgent::connected(Connection connection) {
  const WorkerId peer = connection.peer;
  const rpc::WorkerKey key(peer, connection.incarnation);
  try {
    if (!begin_link(std::move(connection))) return io_thread_->forget_here(peer);
  } catch (const std::exception& why) {
    io_thread_->forget_here(peer);
    const auto error = [&] { return Error(ErrorKind::Disconnected, why.what()); };
    return failed(key, base::error_or_shortage(ErrorKind::Disconnected, error));
  }
  reactor_->rouse();
}

bool PipeAgent::begin_link(Connection connection) {
  const rpc::WorkerInfo worker(connection.peer_name, {connection.peer, connection.incarnation});
  const std::lock_guard publishing(publishing_);
  LinkPtr link = find(worker.id());
  if (link == nullptr || link->is_over()) {
    // A worker that this one has connected to was known, and was removed since. One that was accepted may be unknown.
    if (connection.is_connector || (link != nullptr && rpc::is_successor(link->peer(), worker))) return false;
    link = std::make_shared<Link>(worker, connection.peer_address);
    put(link);
  }
  if (!link->peer().key().matches(worker.key())) return false;  // another worker has the id since
  std::unique_ptr<Stream> stream = stream_of(connection);
  const int socket = stream->fd() >= 0 ? stream->fd() : connection.socket.get();
  const bool is_socket = stream->fd() >= 0;
  if (!link->begin(std::move(connection), std::move(stream))) return false;
  io_thread_->watch(worker.id(), socket, is_socket);
  if (is_socket && link->has_queue()) io_thread_->want_writable(worker.id());
  return true;
}

void PipeAgent::failed(rpc::WorkerKey peer, const base::Error& why) noexcept {
  const LinkPtr link = find(peer);
  if (link == nullptr) return;
  link->end(Link::State::Lost, link->process().unreachable(why.text()));
  reactor_->tell_end(*link);
}

void PipeAgent::readable(WorkerId peer) {
  const LinkPtr link = find(peer);
  if (link != nullptr) reactor_->read_all(*link);
  if (link == nullptr || link->is_over()) io_thread_->forget_here(peer);
}

void PipeAgent::writable(WorkerId peer) {
  const LinkPtr link = find(peer);
  if (link != nullptr && !link->flush() && link->has_queue()) io_thread_->want_writable(peer);
}

// Reads what the peer had written before it ended.
void PipeAgent::ended(WorkerId peer, const std::string& why) {
  const LinkPtr link = find(peer);
  if (link == nullptr || link->state() < Link::State::Up) return;  // the event belongs to a replaced peer
  link->drain(*reactor_);
  link->end(Link::State::Lost, link->process().gone(why));
  reactor_->tell_end(*link);
}

std::map<std::string, std::string> PipeAgent::debug_info() const {
  std::map<std::string, std::string> info;
  for (const LinkPtr& each : links()) each->add_debug_info(info);
  for (const Offer& each : setting_.identity.transports) {
    if (!each.why_not.empty()) info["pipe.not_offered." + each.name] = each.why_not;
  }
  for (const Offer& each : setting_.identity.channels) {
    if (!each.why_not.empty()) info["pipe.not_offered." + each.name] = each.why_not;
  }
  info["pipe.address"] = address();
  return info;
}

}  // namespace distrun::agents::pipe
