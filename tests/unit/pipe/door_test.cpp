// A rank's door: a thread that sleeps there is woken by every ring after a write.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include <agents/pipe/door.hpp>
#include <distrun/common/base/error.hpp>

#include "support/limits.hpp"

namespace distrun::agents::pipe {
namespace {

TEST_CASE("a peer sees by its mapping whether the rank sleeps, and wakes it once") {
  Door own;
  const Door peers(own.duplicate_fd());
  CHECK_FALSE(peers.is_parked());
  peers.ring();
  CHECK_FALSE(Door::is_parked(own.state()));
  own.set_parked(4711);
  CHECK(peers.is_parked());
  CHECK(peers.parked_at_ns() == 4711);
  const std::uint32_t parked = own.state();
  peers.ring();
  CHECK_FALSE(peers.is_parked());
  CHECK(own.state() != parked);
  own.sleep(parked);  // the state has changed: no thread falls asleep
  own.set_parked(4712);
  CHECK(own.state() != parked);
  own.set_polling();
  CHECK_FALSE(peers.is_parked());
}

TEST_CASE("a wake keeps the state, and prevents falling asleep on the earlier state") {
  Door own;
  own.set_parked(1);
  const std::uint32_t state = own.state();
  own.wake();
  CHECK(Door::is_parked(own.state()));
  own.sleep(state);
}

TEST_CASE("a descriptor that is not one page of memory is not a door") {
  CHECK_THROWS_AS(Door(base::Fd()), Error);
  CHECK_THROWS_AS(Door(base::make_pipe().first), Error);
}

TEST_CASE("a peer's door takes no more descriptors") {
  Door own;
  const base::Fd received = own.duplicate_fd();
  const distrun::testing::FewFiles none(0);
  const Door peers(received);
  own.set_parked(1);
  CHECK(peers.is_parked());
}

// A rank that sleeps whenever its ring is empty, and a peer that writes and rings. If a ring were lost, both
// would wait for ever, since they use no timeouts.
void play(Door& own, const Door& peers, int rounds) {
  std::atomic<int> written{0};  // stands for a ring's position
  std::atomic<int> read{0};
  std::thread peer([&] {
    for (int i = 1; i <= rounds; ++i) {
      written.store(i);
      peers.ring();
      if (i % 16 != 0) continue;
      while (read.load() < i) std::this_thread::yield();
    }
  });
  while (read.load() < rounds) {
    const int there = written.load();
    if (there != read.load()) {
      read.store(there);
      continue;
    }
    own.set_parked(0);
    const std::uint32_t state = own.state();
    if (Door::is_parked(state) && written.load() == read.load()) own.sleep(state);
    if (Door::is_parked(own.state())) own.set_polling();
  }
  peer.join();
  CHECK(read.load() == rounds);
}

TEST_CASE("no bell is lost in any interleaving of writing and falling asleep") {
  Door own;
  const Door peers(own.duplicate_fd());
  play(own, peers, 100'000);
}

TEST_CASE("no wake is lost in any interleaving with falling asleep") {
  Door own;
  std::atomic<int> wanted{0}, done{0};
  constexpr int kRounds = 100'000;
  std::thread other([&] {
    for (int i = 1; i <= kRounds; ++i) {
      wanted.store(i);
      own.wake();
      if (i % 16 != 0) continue;
      while (done.load() < i) std::this_thread::yield();
    }
  });
  own.set_parked(0);
  while (done.load() < kRounds) {
    const std::uint32_t state = own.state();
    if (wanted.load() == done.load()) own.sleep(state);
    done.store(wanted.load());
  }
  other.join();
  CHECK(done.load() == kRounds);
}

}  // namespace
}  // namespace distrun::agents::pipe
