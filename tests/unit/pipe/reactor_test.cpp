// Reading the rings of a rank's peers: by a waiting thread or an idle worker, with no message left behind when one
// hands over to the other.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <agents/pipe/reactor.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>

#include "unit/future/handlers.hpp"

namespace distrun::agents::pipe {
namespace {

using namespace std::chrono_literals;

constexpr auto kReactorPatience = 30s;

// Keeps received messages; a message with an even id leaves a task to run.
class Inbox final : public rpc::Receiver {
 public:
  std::unique_ptr<future::HandlerTask> receive(const rpc::WorkerInfo&, rpc::Message message) noexcept override {
    const bool has_task = message.id % 2 == 0;
    add(count_, std::this_thread::get_id());
    return has_task ? std::make_unique<Task>(*this) : nullptr;
  }
  void lose(const rpc::WorkerInfo&, const Error&) noexcept override { add(losses_, {}); }

  int count() const noexcept { return count_.load(); }
  int tasks() const noexcept { return tasks_.load(); }
  int losses() const noexcept { return losses_.load(); }
  std::thread::id last_reader() const {
    const std::lock_guard lock(mutex_);
    return last_reader_;
  }
  template <class Holds>
  bool comes(Holds holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kReactorPatience, holds);
  }

 private:
  struct Task final : future::HandlerTask {
    explicit Task(Inbox& inbox_) : inbox(inbox_) {}
    void run() noexcept override { inbox.add(inbox.tasks_, {}); }
    Inbox& inbox;
  };
  void add(std::atomic<int>& what, std::thread::id reader) {
    const std::lock_guard lock(mutex_);
    if (reader != std::thread::id()) last_reader_ = reader;
    ++what;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> count_{0}, tasks_{0}, losses_{0};
  std::thread::id last_reader_;
};

// A receiver that blocks in lose() until released.
class SlowReceiver final : public rpc::Receiver {
 public:
  std::unique_ptr<future::HandlerTask> receive(const rpc::WorkerInfo&, rpc::Message) noexcept override {
    return nullptr;
  }
  void lose(const rpc::WorkerInfo&, const Error&) noexcept override {
    is_inside = true;
    door.pass_unseen();
    is_inside = false;
  }

  std::atomic<bool> is_inside{false};
  testing::Door door;
};

// The event that a test waits for in help().
class Count final : public future::Progress::Awaited {
 public:
  Count(const Inbox& inbox, int wanted) : inbox_(inbox), wanted_(wanted) {}
  bool is_there() const noexcept override { return inbox_.count() >= wanted_; }

 private:
  const Inbox& inbox_;
  const int wanted_;
};

// Pools live until the process ends, as their threads do, and must stay reachable for the leak checker.
future::HandlerPool& lasting_pool() {
  static auto* const states = new std::vector<std::unique_ptr<core::RankState>>;
  static auto* const pools = new std::vector<std::unique_ptr<future::HandlerPool>>;
  states->push_back(std::make_unique<core::RankState>());
  return *pools->emplace_back(std::make_unique<future::HandlerPool>(*states->back()));
}

// The rank's own link is `own`; its peer is the test.
struct Rank {
  Rank() : pool(lasting_pool()) {
    reactor = std::make_shared<Reactor>(pool, inbox);
    memfd = RingPair::make_memfd();
    peers.begin(connection(), stream(true));
    own->begin(connection(), stream(false));
    reactor->set_links({own});
  }
  ~Rank() {
    reactor->close();
    if (in_pool) pool.leave(*reactor);
    own->close();
    peers.close();
    reactor->forget_links();
  }
  void use_pool() {
    in_pool = true;
    pool.use(reactor);
  }
  void send(std::uint64_t id, bool rings = true) {
    rpc::Message message;
    message.id = id;
    peers.send(std::move(message), Link::Limit::None);
    if (rings) peers.ring();
  }
  // Returns a stream that rings the other side's door.
  std::unique_ptr<Stream> stream(bool is_maker) {
    const Door& others = is_maker ? reactor->door() : door;
    return std::make_unique<ShmStream>(std::make_unique<RingPair>(base::Fd(::dup(memfd.get())), is_maker),
                                       std::make_unique<Door>(others.duplicate_fd()));
  }
  static Connection connection() {
    Connection made;
    made.peer_pid = ::getpid();
    made.transport = "shm";
    return made;
  }

  Inbox inbox;
  future::HandlerPool& pool;
  std::shared_ptr<Reactor> reactor;
  base::Fd memfd;
  Door door;  // the test's
  Link peers{rpc::WorkerInfo("rank", 1), "uds:1"};
  std::shared_ptr<Link> own = std::make_shared<Link>(rpc::WorkerInfo("peer", 2), "uds:2");
  bool in_pool = false;
};

base::TimePoint in_long() { return base::system_clock().now() + kReactorPatience; }

TEST_CASE("a waiting thread reads messages itself, and then the door shows that no thread reads") {
  Rank rank;
  rank.send(1), rank.send(3);
  rank.reactor->help(Count(rank.inbox, 2), in_long());
  CHECK(rank.inbox.count() == 2);
  CHECK(rank.inbox.last_reader() == std::this_thread::get_id());
  CHECK(Door::is_parked(rank.reactor->door().state()));
  rank.send(5);
  CHECK_FALSE(Door::is_parked(rank.reactor->door().state()));
  rank.reactor->help(Count(rank.inbox, 3), in_long());
  CHECK(rank.inbox.count() == 3);
}

TEST_CASE("a thread that waits in vain gives up after a moment, and later messages are there for the next") {
  Rank rank;
  const auto begin = std::chrono::steady_clock::now();
  rank.reactor->help(Count(rank.inbox, 1), in_long());
  CHECK(std::chrono::steady_clock::now() - begin < kReactorPatience);
  CHECK(rank.inbox.count() == 0);
  rank.send(1);
  rank.reactor->help(Count(rank.inbox, 1), in_long());
  CHECK(rank.inbox.count() == 1);
}

TEST_CASE("an idle worker reads the messages that arrive and runs their tasks") {
  Rank rank;
  rank.use_pool();
  for (int round = 1; round <= 50; ++round) {
    rank.send(2);
    REQUIRE(rank.inbox.comes([&] { return rank.inbox.tasks() == round; }));
  }
  CHECK(rank.inbox.count() == 50);
  CHECK(rank.inbox.last_reader() != std::this_thread::get_id());
}

// Neither reader leaves a message behind that arrived while it released the links.
TEST_CASE("a worker and a waiting thread take turns, and each message is read") {
  Rank rank;
  rank.use_pool();
  constexpr int kCount = 3000;
  std::thread peer([&] {
    for (int i = 1; i <= kCount; ++i) {
      rank.send(static_cast<std::uint64_t>(i));
      while (rank.inbox.count() < i - i % 3) std::this_thread::yield();
    }
  });
  for (int i = 1; i <= kCount; i += 7) {
    const Count some(rank.inbox, i);
    rank.reactor->help(some, in_long());
  }
  peer.join();
  CHECK(rank.inbox.comes([&] { return rank.inbox.count() == kCount && rank.inbox.tasks() == kCount / 2; }));
}

TEST_CASE("a wake makes a worker leave the place, though no message has arrived") {
  Rank rank;
  std::atomic<int> returned{0};
  std::thread worker([&] {
    rank.reactor->idle();
    ++returned;
    rank.reactor->idle();
    ++returned;
  });
  rank.reactor->wake();
  while (returned.load() < 1) std::this_thread::yield();
  rank.reactor->wake();
  worker.join();
  CHECK(returned.load() == 2);
  CHECK(Door::is_parked(rank.reactor->door().state()));
}

TEST_CASE("a closed reactor releases all workers, and no longer reports the end of a link") {
  Rank rank;
  std::thread worker([&] { rank.reactor->idle(); });
  rank.reactor->close();
  worker.join();
  rank.own->end(Link::State::Lost, Error(ErrorKind::Disconnected, "it is gone"));
  rank.reactor->tell_end(*rank.own);
  CHECK(rank.inbox.losses() == 0);
}

// The closing thread destroys the receiver next.
TEST_CASE("a reactor is closed when no thread uses its receiver any more") {
  SlowReceiver receiver;
  const auto reactor = std::make_shared<Reactor>(lasting_pool(), receiver);
  const auto link = std::make_shared<Link>(rpc::WorkerInfo("peer", 2), "uds:2");
  link->end(Link::State::Lost, Error(ErrorKind::Disconnected, "it is gone"));
  std::thread teller([&] { reactor->tell_end(*link); });
  REQUIRE(testing::soon([&] { return receiver.is_inside.load(); }));
  std::atomic<bool> is_closed{false};
  bool was_inside = true;
  std::thread closer([&] {
    reactor->close();
    was_inside = receiver.is_inside;
    is_closed = true;
  });
  CHECK_FALSE(testing::eventually(200ms, [&] { return is_closed.load(); }));
  receiver.door.open();
  closer.join();
  teller.join();
  CHECK_FALSE(was_inside);
}

TEST_CASE("a closed reactor delivers no message that was read before") {
  Rank rank;
  rank.send(1);
  rank.reactor->close();
  rank.reactor->read_all(*rank.own);
  CHECK(rank.inbox.count() == 0);
}

TEST_CASE("the end of a peer is reported once, by the thread that has read it") {
  Rank rank;
  rank.use_pool();
  rank.send(1, false);
  rank.peers.send_leave("it is done");
  rank.peers.ring();
  CHECK(rank.inbox.comes([&] { return rank.inbox.losses() == 1; }));
  CHECK(rank.inbox.count() == 1);
  rank.reactor->read_all(*rank.own);
  CHECK(rank.inbox.losses() == 1);
}

}  // namespace
}  // namespace distrun::agents::pipe
