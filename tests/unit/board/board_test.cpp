#include <distrun/common/board/board.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/board/slot_writer.hpp>

#include "../support/forked.hpp"
#include "../support/thread_sanitizer.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::board;

TEST_CASE("a rank's writes to its slot are read by the coordinator and its peers") {
  const Board board(4);
  const RankBoard two(board.fd(), 2, 4);
  const RankBoard three(board.fd(), 3, 4);
  CHECK_FALSE(read(board.slot(2), 4).has_value());
  SlotWriter writer(two.own());
  writer.attach();
  writer.enter_phase(wire::Phase::Body);
  for (const Slot* seen : {&board.slot(2), three.peer(2), two.peer(2)}) {
    const auto shown = read(*seen, 4);
    REQUIRE(shown.has_value());
    CHECK(shown->pid == ::getpid());
    CHECK(shown->phase == wire::Phase::Body);
  }
  CHECK_FALSE(read(board.slot(3), 4).has_value());
  CHECK(two.peer(4) == nullptr);
  CHECK(two.peer(-1) == nullptr);
}

TEST_CASE("a rank cannot change the size of the board") {
  const Board board(2);
  CHECK(::ftruncate(board.fd(), 0) == -1);
  CHECK(::ftruncate(board.fd(), 1 << 30) == -1);
}

TEST_CASE("a descriptor that is not a board of that many ranks is refused") {
  const Board board(2);
  CHECK_THROWS_WITH(RankBoard(board.fd(), 0, 3), Catch::Contains("not a board of 3 ranks"));
  CHECK_THROWS_AS(RankBoard(board.fd(), 2, 2), Error);
  CHECK_THROWS_AS(RankBoard(board.fd(), -1, 2), Error);
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK_THROWS_AS(RankBoard(null.get(), 0, 2), Error);
  CHECK_THROWS_AS(RankBoard(-1, 0, 2), Error);
  struct stat all {};
  REQUIRE(::fstat(board.fd(), &all) == 0);
  const base::Fd open(::memfd_create("a test", MFD_CLOEXEC));  // of the same size, which is not sealed
  REQUIRE(::ftruncate(open.get(), all.st_size) == 0);
  CHECK_THROWS_AS(RankBoard(open.get(), 0, 2), Error);
}

TEST_CASE("a rank that writes into a peer's slot crashes, and the slot is unchanged") {
  testing::skip_case_if(testing::kThreadSanitizer, testing::kOwnFaults);
  const Board board(2);
  const RankBoard one(board.fd(), 1, 2);
  SlotWriter(one.own()).attach();
  const testing::ForkedEnd end = testing::in_child([&] {
    const RankBoard zero(board.fd(), 0, 2);
    const_cast<Slot*>(zero.peer(1))->pid.store(1);
    return 0;
  });
  CHECK(end.code != 0);
  CHECK(read(board.slot(1), 2)->pid == ::getpid());
}

TEST_CASE("a rank that scribbles over its slot harms no reader") {
  const Board board(2);
  const RankBoard scribbler(board.fd(), 0, 2);
  const RankBoard neighbour(board.fd(), 1, 2);
  SlotWriter writer(neighbour.own());
  writer.attach();
  auto* bytes = reinterpret_cast<unsigned char*>(scribbler.own());
  base::Rng rng(20261120);
  for (int round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < sizeof(Slot); i += 1 + rng.next() % 64) {
      bytes[i] = static_cast<unsigned char>(rng.next());
    }
    scribbler.own()->magic = kMagic;
    const auto shown = read(board.slot(0), 2);
    REQUIRE(shown.has_value());
    CHECK(shown->waits.size() <= kWaits);
    CHECK(shown->operations.size() <= kOperations);
    for (const ShownWait& wait : shown->waits) {
      CHECK(wait.name.size() <= kNameSize);
      for (const int peer : wait.peers) CHECK((peer == 0 || peer == 1));
    }
  }
  CHECK(read(board.slot(1), 2)->waits.empty());
}
