#pragma once
// The agent for ranks that are processes. It has a link per peer (link.hpp), connected when there is something to send;
// a thread for sockets (io_thread.hpp); and a reactor (reactor.hpp), by which waiting threads read shared memory.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include <agents/pipe/io_thread.hpp>
#include <agents/pipe/link.hpp>
#include <agents/pipe/reactor.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::pipe {

// The inputs of an agent, apart from its rank.
struct PipeSetting {
  rpc::WorkerInfo worker;
  bool takes_strangers = false;  // accept workers that were not added, if they know the secret
  Identity identity;             // without the address
  std::string tcp_host;          // empty: no TCP
  bool has_uds = true;
  base::Nanoseconds handshake_limit{};
  int handlers = 0;  // handlers that may run unblocked at the same time; 0: the pool's default
};

class PipeAgent final : public rpc::Agent, private IoThreadEvents, private rpc::Receiver {
 public:
  explicit PipeAgent(PipeSetting setting);
  ~PipeAgent() override;

  const rpc::WorkerInfo& worker_info() const noexcept override { return setting_.worker; }
  std::vector<rpc::WorkerInfo> worker_infos() const override;
  std::string address() const override { return io_thread_->address(); }
  void add_worker(const rpc::WorkerRecord& record) override;
  void remove_worker(rpc::WorkerKey worker) noexcept override;
  bool is_gone(const rpc::WorkerRecord& record) const override;
  void start(rpc::Receiver& receiver) override;
  void send(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency) override;
  bool has_room(rpc::WorkerKey to) const noexcept override;
  void look_after(rpc::WorkerKey peer) noexcept override;
  void give_up(rpc::WorkerKey peer, const base::Error& why) noexcept override;
  std::shared_ptr<future::Progress> progress() const noexcept override { return reactor_; }
  void set_end(const std::string& why, int because_of) noexcept override;
  void close(base::Nanoseconds limit) noexcept override;
  std::map<std::string, std::string> debug_info() const override;

 private:
  using LinkPtr = std::shared_ptr<Link>;

  // IoThreadEvents.
  void make_room(const Hello& hello) override;
  std::optional<Refusal> refuse(const Hello& hello) override;
  std::vector<base::Fd> fds_for_hello(WorkerId peer) override;
  std::vector<int> fds_for_welcome(const Hello& hello, std::string_view transport) override;
  void connected(Connection connection) override;
  void failed(rpc::WorkerKey peer, const base::Error& why) noexcept override;
  void readable(WorkerId peer) override;
  void writable(WorkerId peer) override;
  void ended(WorkerId peer, const std::string& why) override;
  base::TimePoint on_timer() override { return base::TimePoint::max(); }
  // rpc::Receiver, for the reactor: before start() and after close() there is no receiver to pass messages to.
  std::unique_ptr<future::HandlerTask> receive(const rpc::WorkerInfo& from, rpc::Message message) noexcept override;
  void lose(const rpc::WorkerInfo& peer, const base::Error& why) noexcept override;

  LinkPtr find(WorkerId id) const noexcept;
  // Returns null if there is no link, or one to another incarnation.
  LinkPtr find(rpc::WorkerKey worker) const noexcept;
  LinkPtr get(rpc::WorkerKey worker) const;
  // Makes `link` the link to its peer. Requires publishing_.
  void put(LinkPtr link);
  // Returns false if the connection is for no link.
  bool begin_link(Connection connection);
  // Ends a link because another worker has joined in its peer's place.
  void end_replaced(Link& link) noexcept;
  std::unique_ptr<Stream> stream_of(Connection& connection);
  std::vector<LinkPtr> links() const;
  // Returns the link of the first peer with an id above `id`, and sets `id` to its id. Null at the end.
  LinkPtr next(WorkerId& id) const noexcept;
  bool has_written_all() const noexcept;
  void flush_all(base::TimePoint deadline) noexcept;

  const base::ProcessMark mark_;
  const PipeSetting setting_;
  core::RankState& rank_;
  future::HandlerPool& pool_;
  std::shared_ptr<Reactor> reactor_;
  std::unique_ptr<IoThread> io_thread_;
  std::atomic<rpc::Receiver*> receiver_{nullptr};
  std::atomic<bool> is_closed_{false};
  // Held from a change of links_ until the reactor has it. Also while the I/O thread begins a link and watches its
  // socket, and while another thread takes a link out and forgets its socket: watches are found by the peer's id, so
  // that thread could forget the socket of the peer's next link. Taken before mutex_ and the locks of links.
  std::mutex publishing_;
  mutable std::shared_mutex mutex_;
  std::map<WorkerId, LinkPtr> links_;  // guarded by mutex_, as are the next two
  std::string end_;                    // reason reported to peers; empty: none
  int end_because_of_ = -1;            // the rank that caused it; -1: none is known
};

}  // namespace distrun::agents::pipe
