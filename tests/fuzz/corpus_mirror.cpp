// Frames of a rank for mirror_fuzz.cpp, as its own Mirror sends them.
#include <sys/socket.h>

#include <cstring>
#include <functional>

#include <distrun/common/base/fd.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>
#include <distrun/runtime/collectives/shm/mirror.hpp>

#include "corpus.hpp"
#include "group_of_two.hpp"

namespace distrun {
namespace {

using namespace collectives;
using fuzz::GroupOfTwo;

// Rank 1, as rank 0 is in GroupOfTwo.
class Sender {
 public:
  Sender() {
    base::FdPair line = base::make_socket_pair(SOCK_STREAM);
    base::set_nonblocking(line.first.get());
    reader_ = std::move(line.second);
    GroupInfo group = world_.group;
    group.rank = 1;
    std::vector<shm::FarRank> ranks(2);
    ranks[0] = {std::move(line.first), "node01", GroupOfTwo::kNoProcess};
    mirror_ = std::make_unique<shm::Mirror>(world_.area, group, std::move(ranks));
  }

  Sender& call(std::uint64_t exchange) {
    shm::SlotHeader& header = world_.area.header(1, exchange) = shm::SlotHeader();
    header.bytes = GroupOfTwo::kBytes;
    header.kind = world_.call.kind;
    header.dtype = world_.call.dtype;
    world_.area.part(1, exchange, 0) = {0, GroupOfTwo::kBytes};
    std::memset(world_.area.room(1, exchange), static_cast<int>('a' + exchange), GroupOfTwo::kBytes);
    mirror_->show_come(exchange, 1, GroupOfTwo::kBytes);
    mirror_->show_left(exchange);
    return *this;
  }
  Sender& message(std::uint64_t number, std::size_t size, shm::Carriage carriage) {
    shm::MessageSlot& slot = world_.area.mail_box(1, 0).messages[(number - 1) % shm::kMessages];
    slot.head = {};
    slot.head.tag = GroupOfTwo::kTag;
    slot.head.size = size;
    slot.head.dtype = DType::U8;
    slot.head.carriage = carriage;
    const std::vector<std::byte> bytes(size, std::byte{'m'});
    if (carriage == shm::Carriage::Inside) std::memcpy(slot.inside.data(), bytes.data(), size);
    mirror_->show_message(0, number, bytes);
    return *this;
  }
  Sender& taken(std::uint64_t count) { return mirror_->show_taken(0, count), *this; }
  Sender& cause(std::uint64_t cause) { return mirror_->show_cause(cause), *this; }
  Sender& end(shm::Presence how) { return mirror_->show_end(how, "it has had enough"), *this; }

  wire::Bytes bytes() {
    mirror_.reset();  // sends what is left
    wire::Bytes all(std::size_t{1} << 20);
    const ssize_t count = ::recv(reader_.get(), all.data(), all.size(), MSG_WAITALL);
    all.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return all;
  }

 private:
  GroupOfTwo world_;
  base::Fd reader_;
  std::unique_ptr<shm::Mirror> mirror_;
};

}  // namespace

void fuzz::write_mirror() {
  using shm::Carriage;
  write("mirror/nothing", {});
  write("mirror/calls", Sender().call(1).call(2).bytes());
  write("mirror/messages", Sender().message(1, 16, Carriage::Inside).message(2, 16, Carriage::Sent).bytes());
  write("mirror/slot_twice", Sender().message(1, 16, Carriage::Sent).message(1, 8, Carriage::Sent).bytes());
  write("mirror/message_missing", Sender().message(8, 16, Carriage::Sent).bytes());
  write("mirror/calls_and_end", Sender().call(1).taken(0).cause(1).end(shm::Presence::GaveUp).bytes());
  write("mirror/message_and_end", Sender().message(1, 16, Carriage::Sent).end(shm::Presence::Left).bytes());
}

}  // namespace distrun
