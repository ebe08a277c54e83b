#pragma once
// Direct reads of a rank's large messages by other ranks, from its memory or from memory that it shares for that
// (direct reads).
//
//   offered -> fetching -> fetched    the receiver has read the bytes
//   offered -> free                   the sender has withdrawn them
//   fetching -> free                  the same; the receiver discards what it reads
//
// The words with these states are shared. So which reads are in use, and the turn of each, is kept in private memory:
// if another process changes a word, one message fails, and no other one succeeds.
// word that another process has changed makes one message fail, and no other one succeed.
#include <array>
#include <atomic>
#include <optional>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// One direct read, as offered.
struct ReadOffer {
  std::uint32_t place = 0;  // below kReads
  std::uint64_t word = 0;
};

// Thread-safe.
class DirectReads {
 public:
  DirectReads(std::shared_ptr<Area> area, int rank) : area_(std::move(area)), own_(area_->seat(rank)) {}

  // The sender's side. Returns nothing if all reads are in use.
  std::optional<ReadOffer> offer() noexcept;
  bool is_fetched(const ReadOffer& offer) const noexcept;
  // Returns true if its word has a value that neither end writes.
  bool is_broken(const ReadOffer& offer) const noexcept;
  // Ends the direct read: the bytes are not read any more. Returns true if they were read completely. Waits for an
  // active copy to end; if the reader is dead or stopped, or after a limit, that copy is discarded.
  bool end(const ReadOffer& offer, int reader) noexcept;

  // The receiver's side. Returns false if the sender has withdrawn the message.
  bool claim(int sender, const ReadOffer& offer) const noexcept;
  // Called when the bytes were read. Returns false if that took too long, so that they must be discarded.
  bool give_back(int sender, const ReadOffer& offer) const noexcept;

 private:
  std::atomic<std::uint64_t>& word(const ReadOffer& offer) const noexcept { return own_.reads[offer.place]; }
  bool wait_for_copy(const ReadOffer& offer, int reader) const noexcept;

  const std::shared_ptr<Area> area_;
  Seat& own_;
  std::array<std::atomic<bool>, kReads> in_use_{};
  std::array<std::uint64_t, kReads> turns_{};  // each changed only by the thread that has set in_use_
};

}  // namespace distrun::collectives::shm
