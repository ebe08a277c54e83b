#pragma once
// Exchanges of a group, from the view of one rank: each rank shows pieces of bytes and takes what it wants of the
// others'. A collective is one or two exchanges.
//
// Ranks in separate processes copy their bytes into the room (kRoom), larger ones piece by piece, and need not wait for
// the takers. The room stays in the cores' caches: for 64 MiB that is twice as fast as reading the other rank's memory
// by process_vm_readv. Ranks that are threads of one process read bytes that do not fit into the room in place, and
// wait until all have done so.
//
// Any thread, one call at a time. Throws what HostBackend::run() throws.
// One at a time, on any thread. Throws what HostBackend::run() throws.
#include <exception>
#include <vector>

#include <distrun/runtime/collectives/shm/bell.hpp>
#include <distrun/runtime/collectives/shm/peer_memory.hpp>

namespace distrun::collectives::shm {

// Bytes that a rank brings: no parts, or as many as every other rank that brings some.
struct Contribution {
  std::vector<ConstBytes> parts;
  int count = 1;            // parts of each rank that brings some
  std::size_t largest = 0;  // of all parts of all ranks, so that all run as many exchanges
  // The bytes stay valid until another exchange of the call has ended, so this one need not wait for the takers.
  bool stay = false;
};

// Takes all of part `part` that rank `from` brings.
struct Take {
  int from = 0;
  int part = 0;
  Bytes into;
};

class Exchanges {
 public:
  Exchanges(std::shared_ptr<Area> area, const GroupInfo& group, const Bells& bells);

  // Sets whether large bytes are read in place from now on. All ranks must pass the same value.
  void use_peer_memory(bool may) noexcept { in_place_ = may; }

  // Shows what this rank brings, and takes from others, in one or several exchanges.
  void copy(const Call& call, const Contribution& contribution, const std::vector<Take>& takes);
  // Reduces part `part` of all ranks into `into`, which may be this rank's own part. The order is that of the ranks, so
  // that all ranks compute the same result.
  void reduce(const Call& call, const Contribution& contribution, int part, Bytes into);

  // Waits until all ranks have arrived with the same call, for bytes that are moved by other means. The exchange lasts
  // until this rank calls done().
  void gather(const Call& call);
  void done() noexcept;
  // Waits until all present ranks are done with this rank's last exchange, at most until the deadline. Thread-safe.
  void wait_for_all_done(base::TimePoint deadline) const;
  // Throws the reason why bytes that are moved by other means after gather() did not arrive, as far as it can be found;
  // `what` is the mover's message.
  [[noreturn]] void explain(const Call& call, const std::string& what) const;

  // Begins the next call.
  void begin_call() noexcept { step_ = 0; }
  // Returns the ranks that are absent from the active exchange, if there is one. Thread-safe.
  std::vector<int> missing() const;
  // Call before and after this rank shows that it leaves. Returns an error if other ranks have passed an exchange at
  // which this rank has not arrived, else null. Thread-safe.
  std::exception_ptr why_missed() const;
  // Waits, after this rank has given up, until no thread of this process reads its bytes. That is soon: a reader
  // finishes or sees that the rank has given up.
  void wait_for_readers() const noexcept;

 private:
  struct Piece {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool in_place = false;
  };
  // A checked part that a rank shows: it lies in the rank's room, or is an address in this process.
  struct Shown {
    std::uint64_t at = 0;
    bool in_place = false;
  };
  template <class Body>
  void for_each_piece(const Call& call, const Contribution& contribution, const Body& body);

  void come(const Call& call, const Contribution& contribution, const Piece& piece);
  void leave(const Call& call, const Contribution& contribution, const Piece& piece);
  void show(const Call& call, const Piece& piece);
  // Waits until that rank has arrived, and checks that its call is the same.
  void meet(const Call& call, int rank);
  void compare_with_all(const Call& call);
  void refuse_if_anybody_missed(const Call& call) const;
  [[noreturn]] void tell_mismatch(const Call& call);
  bool has_given_up(int rank) const;
  void refuse_given_up(const Call& call, int rank) const;
  void take(const Call& call, const Take& take, const Piece& piece);
  void reduce_piece(const Call& call, int part, Bytes into, const Piece& piece);
  // Returns a pointer to bytes of a rank's shown_ part: in place, or copied to `scratch`.
  const std::byte* view(int rank, std::size_t offset, std::size_t size, std::byte* scratch);
  Shown part_of(const Call& call, int rank, int part, std::size_t size) const;
  bool is_over() const noexcept { return area_->has_ended(group_.rank); }
  template <class Ready>
  void wait(const Call& call, const Ready& ready, const std::function<std::vector<int>()>& missing);
  std::vector<int> not_at(std::uint64_t number, std::atomic<std::uint64_t> Seat::*counter) const;
  [[noreturn]] void throw_cut_off(const Call& call) const;
  void throw_if_somebody_goes(const Call& call) const;

  const std::shared_ptr<Area> area_;
  const GroupInfo group_;
  const Bells& bells_;
  Seat& own_;
  PeerMemory memory_;
  bool in_place_ = false;
  std::uint64_t now_ = 0;  // the active exchange, or the last one
  std::uint32_t step_ = 0;
  // The slot header that this rank shows, where other processes cannot change it.
  SlotHeader header_;
  std::uint64_t mark_ = 0;
  std::atomic<std::uint64_t> come_{0}, left_{0};
  std::vector<Shown> shown_;  // parts of all ranks in the current reduction
  std::vector<std::byte> scratch_;
};

}  // namespace distrun::collectives::shm
