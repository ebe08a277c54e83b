// Exchanges with a rank that shows impossible values: the others get an error in every case.
#include <catch2/catch.hpp>

#include <limits>

#include <distrun/runtime/collectives/objects.hpp>
#include <distrun/runtime/collectives/shm/shm_backend.hpp>
#include <distrun/runtime/collectives/sparse_all_reduce.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "../support/thread_sanitizer.hpp"
#include "hostile_peer.hpp"
#include "support/error_of.hpp"
#include "support/skip.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kEver = std::uint64_t{1} << 40;
constexpr std::size_t kBytes = 4096;

// Rank 1 has arrived at all exchanges, and left them.
struct HostileExchange : testing::SharedWithStranger {
  HostileExchange() {
    peer().come = peer().left = kEver;
    call.kind = CallKind::AllReduce;
    call.number = 7;
    call.in = {mine};
    call.out = {result};
    call.deadline = testing::from_now(20s);
    for (std::uint64_t exchange : {0, 1}) {
      shm::SlotHeader& header = area->header(1, exchange) = shm::SlotHeader();
      header.number = call.number;
      header.bytes = kBytes;
      header.kind = call.kind;
      header.dtype = call.dtype;
    }
    show({0, kBytes}, false);
  }
  void show(shm::Part part, bool in_place) const {
    for (std::uint64_t exchange : {0, 1}) {
      area->part(1, exchange, 0) = part;
      area->header(1, exchange).in_place = in_place ? 1 : 0;
    }
  }
  void take() {
    begin();
    exchanges.copy(call, {.parts = call.in, .largest = kBytes}, {{1, 0, result}});
  }
  void reduce() {
    begin();
    exchanges.reduce(call, {.parts = call.in, .largest = kBytes}, 0, result);
  }

  void begin() {
    own().left = kEver;  // also of an exchange that has failed
    exchanges.begin_call();
  }

  std::vector<std::byte> mine = std::vector<std::byte>(kBytes, std::byte{1});
  std::vector<std::byte> result = std::vector<std::byte>(kBytes);
  Call call;
  shm::Exchanges exchanges{area, group, bells};
};

TEST_CASE("a part outside its rank's buffer is refused, wherever it claims to be") {
  HostileExchange world;
  world.take();
  world.reduce();
  for (const std::uint64_t at : {shm::kRoom - kBytes + 1, shm::kRoom, std::uint64_t{1} << 46, ~std::uint64_t{0}}) {
    world.show({at, kBytes}, false);
    const Error taken = testing::error_of([&] { world.take(); });
    CHECK_THAT(taken.text(), Catch::Contains("rank 1 has corrupted the shared memory of group world"));
    CHECK(taken.kind() == ErrorKind::Disconnected);
    CHECK_THAT(testing::error_of([&] { world.reduce(); }).text(), Catch::Contains("shows 4096 bytes from byte"));
  }
  world.show({0, kBytes + 1}, false);
  CHECK_THAT(testing::error_of([&] { world.reduce(); }).text(), Catch::Contains("sends 4097 bytes to rank 0"));
}

TEST_CASE("an address of another process is not used as a local one, with any claimed process") {
  HostileExchange world;
  for (const int pid : {::getpid(), ::getppid(), -1, 0}) {
    world.peer().pid = pid;
    world.show({16, kBytes}, true);  // as an address this is unmapped; in its buffer it is an offset
    CHECK_NOTHROW(world.take());
    CHECK_NOTHROW(world.reduce());
    world.show({reinterpret_cast<std::uint64_t>(world.mine.data()), kBytes}, true);
    CHECK_THAT(testing::error_of([&] { world.take(); }).text(), Catch::Contains("has corrupted the shared memory"));
    CHECK_THAT(testing::error_of([&] { world.reduce(); }).text(), Catch::Contains("has corrupted the shared memory"));
  }
}

// Each number is read once, so that the checked value is the used one.
TEST_CASE("a part that changes while it is read is used as it was checked") {
  testing::skip_case_if(testing::kThreadSanitizer, "it is a race by intent");
  HostileExchange world;
  std::atomic<bool> is_over{false};
  const base::Thread changer("changer", [&] {
    while (!is_over) {
      world.show({std::uint64_t{1} << 46, kBytes}, true);
      world.show({0, kBytes}, false);
    }
  });
  int refused = 0, done = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      i % 2 == 0 ? world.take() : world.reduce();
      ++done;
    } catch (const Error&) {
      ++refused;
    }
  }
  is_over = true;
  CHECK(refused + done == 20'000);
}

TEST_CASE("a slot header of random bytes is reported as a mismatch") {
  HostileExchange world;
  for (std::uint64_t exchange : {0, 1}) {
    std::memset(static_cast<void*>(&world.area->header(1, exchange)), 0xff, sizeof(shm::SlotHeader));
    world.area->header(1, exchange).file.fill('\x1b');
  }
  world.peer().come = 1;
  const Error error = testing::error_of([&] { world.reduce(); });
  CHECK_THAT(error.text(), Catch::Contains("make different calls") && Catch::Contains("rank 1 is in receive"));
  CHECK(error.text().find('\x1b') == std::string::npos);
}

TEST_CASE("a rank continues when another rank claims that it has left") {
  HostileExchange world;
  world.own().presence = shm::Presence::Left;
  world.own().come = world.own().left = kEver;
  CHECK_NOTHROW(world.take());
  CHECK(world.exchanges.missing().empty());
  world.peer().come = 1;
  world.call.deadline = testing::from_now(100ms);
  CHECK(testing::error_of([&] { world.reduce(); }).kind() == ErrorKind::Timeout);
  world.peer().why.fill('x');
  world.peer().presence = shm::Presence::GaveUp;
  CHECK_THAT(testing::error_of([&] { world.reduce(); }).text(), Catch::Contains("has given up the group: xxx"));
}

// Runs an all_to_all with rank 1 as a mirror of this rank, except for what `tamper` changes.
std::string all_to_all_with(const testing::Mirror::Tamper& tamper, std::size_t sent, std::size_t taken,
                            base::Nanoseconds limit) {
  HashStore store;
  const testing::Mirror mirror(store, tamper);
  const auto backend = make_shm_backend(testing::pair_of_ranks(0), store, testing::from_now(30s), {});
  std::vector<std::byte> own(sent), theirs(taken), ours(sent);
  Call call;
  call.kind = CallKind::AllToAll;
  call.number = 1;
  call.timeout = limit;
  call.deadline = testing::from_now(limit);
  call.in = {ours, ours};
  call.out = {own, theirs};
  return testing::error_of([&] { backend->run(call); }).text();
}

TEST_CASE("impossible sizes of all_to_all end the call") {
  const std::uint64_t forged = std::numeric_limits<std::int64_t>::max();
  const auto tamper = [&](shm::SlotHeader& header, shm::Part&, std::byte* room) {
    if (header.kind == CallKind::AllToAll && header.dtype == DType::I64) std::memcpy(room, &forged, sizeof forged);
  };
  // Enough exchanges to take years, each with only a short wait for this rank.
  CHECK_THAT(all_to_all_with(tamper, 100, 100, 500ms), Catch::Contains("has timed out after 500.0 ms"));
}

TEST_CASE("a rank that takes more than is sent is named, also if the data fills the buffers") {
  const auto tamper = [](shm::SlotHeader&, shm::Part&, std::byte*) {};
  const std::string text = all_to_all_with(tamper, shm::kRoom / 2, shm::kRoom, 30s);
  CHECK_THAT(text, Catch::Contains("rank 1 sends 0 bytes to rank 0, which expects 131072"));
}

TEST_CASE("objects of impossible sizes are refused before memory is allocated") {
  for (const std::int64_t forged :
       {std::int64_t{-1}, std::int64_t{1} << 50, std::numeric_limits<std::int64_t>::min()}) {
    const auto store = std::make_shared<HashStore>();
    const testing::Mirror mirror(*store, [&](shm::SlotHeader& header, shm::Part&, std::byte* room) {
      if (header.number == 1) std::memcpy(room, &forged, sizeof forged);
    });
    ProcessGroup group(testing::pair_of_ranks(0), store, {.timeout = 30s});
    const Error error = testing::error_of([&] { all_gather_object(group, std::string("mine")); });
    CHECK_THAT(error.text(), Catch::Contains("rank 1 of group world has an object of " + std::to_string(forged)));
  }
}

TEST_CASE("out-of-range indices of a sparse tensor are refused, not added there") {
  for (const std::int64_t forged : {std::int64_t{4}, std::int64_t{1} << 40, std::int64_t{-1}}) {
    const auto store = std::make_shared<HashStore>();
    const testing::Mirror mirror(*store, [&](shm::SlotHeader& header, shm::Part&, std::byte* room) {
      if (header.number == 3) std::memcpy(room, &forged, sizeof forged);  // after the description's size and bytes
    });
    ProcessGroup group(testing::pair_of_ranks(0), store, {.timeout = 30s});
    const Tensor indices = tensor::from_values<std::int64_t>({0, 3}, Dims{1, 2});
    const Tensor sparse = tensor::sparse_coo(indices, tensor::ones({2}), {4});
    const Error error = testing::error_of([&] { all_reduce_sparse(group, sparse, ReduceOp::Sum); });
    CHECK_THAT(error.text(), Catch::Contains("sparse_coo") && Catch::Contains(std::to_string(forged)));
  }
}

}  // namespace
}  // namespace distrun::collectives
