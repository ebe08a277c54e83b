#pragma once
// The mapped memory of a group. Ranks that are threads of one process share one mapping, so that sanitizers see their
// accesses to each other's data.
//
// If the group's ranks are on several hosts, the memory is this rank's own, and a FarSide shows the others what is
// written into it. The functions show_...() do that; in shared memory they do nothing.
//
// Data that must not be trusted from shared memory is kept beside the mapping: which ranks are threads of this process,
// so that their addresses are valid here; which of those have left; and the process of each other rank as first shown.
#include <memory>
#include <optional>
#include <vector>

#include <distrun/runtime/collectives/shm/far_side.hpp>
#include <distrun/runtime/collectives/shm/layout.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives::shm {

// The world rank that made other ranks end by its own end.
struct Cause {
  int rank = -1;
  int pid = 0;  // of its process, which has ended; 0: the rank failed, its process may still run
};

class Area {
 public:
  Area(int ranks);
  Area(int ranks, const core::SharedAddress& address);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  // Enters a rank of this process; once, before it shows anything else.
  void take_seat(int rank) noexcept;
  // Ends a rank of this process; once. Shows the others a death that the rank has met in this test.
  void end(int rank, Presence how, const std::string& why) noexcept;
  // Only for a rank of this process.
  bool has_ended(int rank) const noexcept { return sitter(rank).has_ended.load(); }
  bool is_here(int rank) const noexcept { return sitter(rank).is_here.load(std::memory_order_relaxed); }
  // Returns true if all ranks are threads of this process, so that no other process is in the group.
  bool is_one_process() const noexcept { return here_.load(std::memory_order_relaxed) == sitters_.size(); }
  // Returns the process of a rank; 0: it has not arrived yet, or is on another host.
  int pid_of(int rank) const noexcept;
  // Makes the area one of a group on several hosts; at most once, before a rank takes its seat.
  void use(std::unique_ptr<FarSide> far_side) noexcept { far_side_ = std::move(far_side); }
  bool is_mirrored() const noexcept { return far_side_ != nullptr; }
  // Returns whether the connection to a rank has ended before the rank has left; has_lost_any(): to any rank.
  bool has_lost(int rank) const noexcept { return far_side_ != nullptr && far_side_->has_lost(rank); }
  bool has_lost_any() const noexcept { return far_side_ != nullptr && far_side_->has_lost_any(); }
  // Only for an area that is mirrored.
  const FarSide& far_side() const noexcept { return *far_side_; }

  // Called after this rank has written there.
  void show_come(std::uint64_t exchange, int parts, std::size_t used) const noexcept {
    if (far_side_ != nullptr) far_side_->show_come(exchange, parts, used);
  }
  void show_left(std::uint64_t exchange) const noexcept {
    if (far_side_ != nullptr) far_side_->show_left(exchange);
  }
  void show_message(int to, std::uint64_t written, ConstBytes outside) const noexcept {
    if (far_side_ != nullptr) far_side_->show_message(to, written, outside);
  }
  void show_taken(int from, std::uint64_t taken) const noexcept {
    if (far_side_ != nullptr) far_side_->show_taken(from, taken);
  }
  std::vector<std::byte> take_outside(int from, std::uint64_t written) const {
    return far_side_ != nullptr ? far_side_->take_outside(from, written) : std::vector<std::byte>();
  }

  // Shows all ranks why this rank is about to give up, so that they do not blame it. The first cause counts.
  void blame(Cause cause) const noexcept;
  // Returns the first cause shown, if it is plausible.
  std::optional<Cause> cause() const noexcept;

  core::SharedAddress address() const { return memory_.address(); }
  AreaHead& head() const noexcept { return at<AreaHead>(0); }
  Seat& seat(int rank) const noexcept { return at<Seat>(layout_.seat(rank)); }
  SlotHeader& header(int rank, std::uint64_t exchange) const noexcept { return seat(rank).headers[exchange % kSlots]; }
  Part& part(int rank, std::uint64_t exchange, int part) const noexcept {
    return at<Part>(layout_.part(rank, exchange % kSlots, part));
  }
  std::byte* room(int rank, std::uint64_t exchange) const noexcept {
    return bytes() + layout_.room(rank, exchange % kSlots);
  }
  MailBox& mail_box(int from, int to) const noexcept { return at<MailBox>(layout_.mail_box(from, to)); }

 private:
  struct Sitter {
    core::RankState* state = nullptr;  // of a rank that is here
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
  std::atomic<std::size_t> here_{0};   // number of sitters that are here
  std::unique_ptr<FarSide> far_side_;  // ends before the memory does
};

}  // namespace distrun::collectives::shm
