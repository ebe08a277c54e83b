#pragma once
// The memory of a group, mapped. Ranks that are threads of one process share one mapping, so that sanitizers see what
// they do to each other.
//
// Beside the mapping stands what must not be read out of it: which ranks are threads of this process, whose addresses
// mean something here; which of those have left; and the process of each other rank, as it was first shown.
#include <memory>
#include <optional>
#include <vector>

#include <distrun/runtime/collectives/shm/layout.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives::shm {

// A rank from whose end those of others follow, by its number in the test.
struct Cause {
  int rank = -1;
  int pid = 0;  // of its process, which has ended; 0: the rank has failed, and its process may go on
};

class Area {
 public:
  // The first rank of the group makes it, the others find it in the store, which is the group's own. Throws what the
  // store throws, Error{Timeout} and base::PeerFailed with the name of the first one, Error{Disconnected} if ranks are
  // on several machines, and Error{Unimplemented} for too many.
  static std::shared_ptr<Area> meet(Store& store, const GroupInfo& group, base::TimePoint deadline);

  Area(int ranks);
  Area(int ranks, const core::SharedAddress& address);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  // A rank of this process begins; once, before it shows anything else.
  void take_seat(int rank) noexcept;
  // A rank of this process ends; once.
  void end(int rank, Presence how, const std::string& why) noexcept;
  // Of a rank of this process.
  bool has_ended(int rank) const noexcept { return sitter(rank).has_ended.load(); }
  bool is_here(int rank) const noexcept { return sitter(rank).is_here.load(std::memory_order_relaxed); }
  // All ranks are threads of this process: no other one has a part in the group.
  bool is_one_process() const noexcept { return here_.load(std::memory_order_relaxed) == sitters_.size(); }
  // The process of a rank; 0: it has not begun yet.
  int pid_of(int rank) const noexcept;
  // Shows to all why this rank is about to give up, so that they do not blame it for that. The first cause counts.
  void blame(Cause cause) const noexcept;
  // What was shown first, if it can be.
  std::optional<Cause> cause() const noexcept;

  core::SharedAddress address() const { return memory_.address(); }
  AreaHead& head() const noexcept { return at<AreaHead>(0); }
  Seat& seat(int rank) const noexcept { return at<Seat>(layout_.seat(rank)); }
  Card& card(int rank, std::uint64_t exchange) const noexcept { return seat(rank).cards[exchange % kCards]; }
  Part& part(int rank, std::uint64_t exchange, int part) const noexcept {
    return at<Part>(layout_.part(rank, exchange % kCards, part));
  }
  std::byte* room(int rank, std::uint64_t exchange) const noexcept {
    return bytes() + layout_.room(rank, exchange % kCards);
  }
  MailBox& mail_box(int from, int to) const noexcept { return at<MailBox>(layout_.mail_box(from, to)); }

 private:
  struct Sitter {
    std::atomic<int> pid{0};
    std::atomic<bool> is_here{false};
    std::atomic<bool> has_ended{false};
  };

  Sitter& sitter(int rank) const noexcept { return sitters_[static_cast<std::size_t>(rank)]; }
  std::byte* bytes() const noexcept { return static_cast<std::byte*>(memory_.data()); }
  template <class T>
  T& at(std::size_t offset) const noexcept {
    return *reinterpret_cast<T*>(bytes() + offset);
  }

  Layout layout_;
  core::SharedMemory memory_;
  mutable std::vector<Sitter> sitters_;
  std::atomic<std::size_t> here_{0};  // how many of them are here
};

}  // namespace distrun::collectives::shm
