#pragma once
// Loans of a rank: other ranks read the bytes of a large message in its memory, or in memory that it shares for that.
//
//   offered -> fetching -> fetched    the receiver has read them
//   offered -> free                   the sender has taken them back
//   fetching -> free                  the same; what the receiver is reading does not count
//
// The words of these states are shared, so which loans are in use, and which turn each is in, is kept beside them: a
// word that another process has changed makes one letter fail, and no other one succeed.
#include <array>
#include <atomic>
#include <optional>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// One, as it was offered.
struct Lent {
  std::uint32_t place = 0;  // below kLoans
  std::uint64_t word = 0;
};

// Any thread.
class Loans {
 public:
  Loans(std::shared_ptr<Area> area, int rank) : area_(std::move(area)), own_(area_->seat(rank)) {}

  // The sender's side. Nothing: all are in use.
  std::optional<Lent> offer() noexcept;
  bool is_fetched(const Lent& lent) const noexcept;
  // Its word is one that neither end has written.
  bool is_broken(const Lent& lent) const noexcept;
  // Ends it: the bytes are read no more. True: they were read to their end. A copy that is under way ends soon,
  // but not that of a process that has died or is stopped: after a bound it does not count.
  bool end(const Lent& lent, int reader) noexcept;

  // The receiver's side. False: the sender has taken the letter back.
  bool claim(int sender, const Lent& lent) const noexcept;
  // The bytes were read. False: that took so long that it does not count.
  bool give_back(int sender, const Lent& lent) const noexcept;

 private:
  std::atomic<std::uint64_t>& word(const Lent& lent) const noexcept { return own_.loans[lent.place]; }
  bool wait_for_copy(const Lent& lent, int reader) const noexcept;

  const std::shared_ptr<Area> area_;
  Seat& own_;
  std::array<std::atomic<bool>, kLoans> in_use_{};
  std::array<std::uint64_t, kLoans> turns_{};  // each changed only by the thread that has set in_use_
};

}  // namespace distrun::collectives::shm
