#pragma once
// A rank's ends of the mail boxes of its group. How many letters it has written and taken it knows by itself; what the
// other end writes is checked when it is read. A rank that has written what cannot be is refused from then on.
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// A letter that was taken out of its box.
struct Arrived {
  int from = -1;
  LetterHead head;
  std::vector<std::byte> inside;  // of a letter that carries its bytes: all, head.size
};

// One thread at a time.
class MailBoxes {
 public:
  MailBoxes(std::shared_ptr<Area> area, const GroupInfo& group);

  // Returns the place for the next message to that rank; null: there is no room.
  ShownLetter* room(int to);
  // It is written.
  void send(int to);

  // Returns the header of the next message from that rank, if there is one.
  std::optional<LetterHead> look(int from);
  // That letter.
  Arrived take(int from, const LetterHead& head);
  // Its sender sees that there is room again.
  void show_taken(int from);

  void refuse(int rank, std::string how) { side(rank).broken = std::move(how); }
  // How it has broken the shared memory; empty: it has not.
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
