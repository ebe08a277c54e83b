// Messages from a rank on another host (mirror.hpp): those of a rank as it should be arrive, and one that sends them in
// another order, or before there is room, is cut off. Else a receive could find a message without its bytes.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>
#include <distrun/runtime/collectives/shm/mail.hpp>
#include <distrun/runtime/collectives/shm/mirror.hpp>

#include "hostile_peer.hpp"
#include "support/process.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

// Two ranks on two hosts, each with memory of its own.
class TwoHosts {
 public:
  static constexpr std::uint64_t kTag = 5;

  TwoHosts() {
    base::FdPair line = base::make_socket_pair(SOCK_STREAM);
    connect(0, std::move(line.first));
    connect(1, std::move(line.second));
    mail_ = std::make_shared<shm::Mail>(here(), testing::pair_of_ranks(0), bells_);
  }

  // Rank 1 sends a message with this number, whose bytes come outside of its slot.
  void send(std::uint64_t number, std::size_t size) const {
    shm::MessageHeader& head = areas_[1]->mail_box(1, 0).messages[(number - 1) % shm::kMessages].head = {};
    head.tag = kTag;
    head.size = size;
    head.dtype = DType::U8;
    head.carriage = shm::Carriage::Sent;
    areas_[1]->show_message(0, number, std::vector<std::byte>(size, std::byte{7}));
  }
  bool arrives(std::uint64_t number) const {
    return testing::eventually(20s, [&] { return here()->mail_box(1, 0).written.load() == number; });
  }
  bool is_cut_off() const {
    return testing::eventually(20s, [&] { return here()->has_lost(1); });
  }
  bool receive(std::size_t size) const {
    std::vector<std::byte> into(size);
    mail_->receive({1, kTag, DType::U8, {}}, into)->finish(testing::from_now(20s));
    return into == std::vector<std::byte>(size, std::byte{7});
  }

 private:
  const std::shared_ptr<shm::Area>& here() const { return areas_[0]; }
  void connect(int rank, base::Fd socket) {
    base::set_nonblocking(socket.get());
    std::vector<shm::FarRank> ranks(2);
    ranks[static_cast<std::size_t>(1 - rank)] = {std::move(socket), "another host", ::getppid()};
    shm::Area& area = *areas_[static_cast<std::size_t>(rank)];
    area.use(std::make_unique<shm::Mirror>(area, testing::pair_of_ranks(rank), std::move(ranks)));
    area.take_seat(rank);
  }

  const std::shared_ptr<shm::Area> areas_[2] = {std::make_shared<shm::Area>(2), std::make_shared<shm::Area>(2)};
  const shm::Bells bells_{areas_[0], testing::pair_of_ranks(0)};
  std::shared_ptr<shm::Mail> mail_;
};

TEST_CASE("messages from another host arrive with their bytes, as long as there is room") {
  const TwoHosts hosts;
  for (std::uint64_t number = 1; number <= 2 * shm::kMessages; ++number) {
    hosts.send(number, 16 + number);
    CHECK(hosts.receive(16 + number));
  }
}

TEST_CASE("a rank on another host that leaves out messages is cut off") {
  const TwoHosts hosts;
  for (std::uint64_t number = 1; number <= shm::kMessages; ++number) {
    hosts.send(number, 16);
    CHECK(hosts.receive(16));
  }
  // The slots between are those of messages that were taken, whose bytes are gone.
  hosts.send(2 * shm::kMessages, 16);
  CHECK(hosts.is_cut_off());
}

TEST_CASE("a rank on another host that overwrites a message which was not taken is cut off") {
  const TwoHosts hosts;
  SECTION("by the same number") {
    hosts.send(1, 100'000);
    REQUIRE(hosts.arrives(1));
    hosts.send(1, 8);
  }
  SECTION("by one that has no room yet") {
    for (std::uint64_t number = 1; number <= shm::kMessages; ++number) hosts.send(number, 16);
    REQUIRE(hosts.arrives(shm::kMessages));
    hosts.send(shm::kMessages + 1, 8);
  }
  CHECK(hosts.is_cut_off());
}

}  // namespace
}  // namespace distrun::collectives
