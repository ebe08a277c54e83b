#pragma once
// A rank's ends of its group's mail boxes. The rank counts written and taken messages itself and checks what the other
// end writes. A rank that has written impossible values is refused from then on.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// A message that was taken out of its box.
struct Arrived {
  int from = -1;
  MessageHeader head;
  std::vector<std::byte> inside;  // all head.size bytes of a message that carries them: Inside or Sent
};

// One thread at a time.
class MailBoxes {
 public:
  MailBoxes(std::shared_ptr<Area> area, const GroupInfo& group);

  // Returns the slot for the next message to that rank; null if the box is full.
  MessageSlot* room(int to);
  // Publishes that message. `outside`: its bytes, if they are Sent.
  void send(int to, ConstBytes outside = {});
  // Return how many messages this rank has sent to that one, and how many of them it shows as taken.
  std::uint64_t sent_to(int to) const { return sides_[static_cast<std::size_t>(to)].written; }
  std::uint64_t taken_by(int to) const { return area_->mail_box(rank_, to).taken.load(); }

  // Returns the header of the next message from that rank, if there is one.
  std::optional<MessageHeader> look(int from);
  // Takes that message.
  Arrived take(int from, const MessageHeader& head);
  // Shows the sender that there is room again.
  void show_taken(int from);

  void refuse(int rank, std::string how) { side(rank).broken = std::move(how); }
  // Returns how the rank has broken the shared memory; empty if it has not.
  const std::string& why_refused(int rank) const { return sides_[static_cast<std::size_t>(rank)].broken; }

 private:
  struct Side {
    std::uint64_t written = 0;  // to that rank
    std::uint64_t taken = 0;    // from that rank
    std::string broken;
  };

  Side& side(int rank) { return sides_[static_cast<std::size_t>(rank)]; }
  bool is_refused(int rank) const { return !why_refused(rank).empty(); }

  const std::shared_ptr<Area> area_;
  const int rank_;
  std::vector<Side> sides_;
};

}  // namespace distrun::collectives::shm
