// What a rank on another host sends into a group: frames, which write into this rank's memory of the group
// (mirror.hpp). Then this rank takes part in exchanges, receives and sends. Each ends with an error, or with bytes that
// were sent.
#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/collectives/shm/mirror.hpp>

#include "group_of_two.hpp"

namespace {

using namespace distrun;
using namespace distrun::collectives;
using fuzz::GroupOfTwo;
using namespace std::chrono_literals;

// The frame that ends an input, as mirror.cpp lays it out: so many messages of this rank were taken.
struct LastFrame {
  std::uint32_t kind = 4;
  std::uint32_t unused = 0;
  std::uint64_t size = sizeof(std::uint64_t);
  std::uint64_t taken = 0x5a5a'5a5a;
};

// Returns false if the sender was cut off.
bool send_all(int socket, ConstBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

// Returns whether all frames were handled: the last one was, or the rank was cut off. False if the input ends within a
// frame after it has shown that the rank leaves.
bool are_handled(const shm::Area& area) {
  const auto end = base::system_clock().now() + 50ms;
  while (base::system_clock().now() < end) {
    if (area.mail_box(0, 1).taken.load() == LastFrame().taken || area.has_lost_any()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  GroupOfTwo world;
  base::FdPair line = base::make_socket_pair(SOCK_STREAM);
  base::set_nonblocking(line.first.get());
  std::vector<shm::FarRank> ranks(2);
  ranks[1] = {std::move(line.first), "node02", GroupOfTwo::kNoProcess};
  world.area.use(std::make_unique<shm::Mirror>(world.area, world.group, std::move(ranks)));
  world.take_seats();
  const ConstBytes sent(reinterpret_cast<const std::byte*>(data), size);
  const LastFrame last;
  if (send_all(line.second.get(), sent)) send_all(line.second.get(), std::as_bytes(std::span(&last, 1)));
  ::shutdown(line.second.get(), SHUT_WR);
  if (are_handled(world.area)) {
    const shm::Bells bells(world.memory, world.group);
    world.exchange(bells);
    world.write_letters(bells, [&](ConstBytes received) {
      return std::search(sent.begin(), sent.end(), received.begin(), received.end()) != sent.end();
    });
  }
  line.second.reset();  // else the destructor would wait until all is sent
  return 0;
}
