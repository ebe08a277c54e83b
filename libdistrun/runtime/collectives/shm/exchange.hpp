#pragma once
// Exchanges of a group, as one rank takes part in them: each rank shows pieces of bytes, and each takes of the others'
// what it wants. All collectives are one or two of these.
//
// Ranks that are processes copy what they bring into the room (kRoom), larger bytes piece by piece, and need not wait
// for who takes them. The room stays in the cores' caches: for 64 MiB that is twice as fast as reading them out of the
// other rank's memory by process_vm_readv. Ranks that are threads of one process look at each other's bytes where they
// are, if they do not fit into the room, and wait until all have done so.
//
// One at a time, on any thread. Throws what Backend::run() throws.
#include <exception>
#include <vector>

#include <distrun/runtime/collectives/shm/bell.hpp>
#include <distrun/runtime/collectives/shm/peer_memory.hpp>

namespace distrun::collectives::shm {

// What a rank brings: none, or as many parts as all ranks do that bring some.
struct Brings {
  std::vector<ConstBytes> parts;
  int count = 1;            // of those that bring some
  std::size_t largest = 0;  // of all parts of all ranks, so that all make as many exchanges
  // The bytes stay as they are until another exchange of the call has ended: nobody waits for who takes them.
  bool stay = false;
};

// Of the part `part` of what rank `from` brings: all of it.
struct Take {
  int from = 0;
  int part = 0;
  Bytes into;
};

class Exchanges {
 public:
  Exchanges(std::shared_ptr<Area> area, const GroupInfo& group, const Bells& bells);

  // Whether large bytes are taken where their owner has them; from now on. All ranks must say the same.
  void use_peer_memory(bool may) noexcept { in_place_ = may; }

  // Shows what this rank brings, and takes. One exchange, or several.
  void copy(const Call& call, const Brings& brings, const std::vector<Take>& takes);
  // Reduces the part `part` of all ranks into `into`, which may be this rank's own part. In the order of the ranks, so
  // that it does not matter who computes it.
  void reduce(const Call& call, const Brings& brings, int part, Bytes into);

  // For bytes that somebody else moves. Until all have come, and do the same; they bring nothing. The exchange lasts
  // until this rank is done() with it.
  void gather(const Call& call);
  void done() noexcept;
  // Until all ranks that are there are done with the last exchange of this one, or the deadline. Any thread.
  void wait_for_all_done(base::TimePoint deadline) const;
  // Of who has gathered, and has not got what it wants from whoever moves the bytes: why, as far as it can be seen;
  // `what` is what that one says.
  [[noreturn]] void explain(const Call& call, base::TimePoint begin, const std::string& what) const;

  // The next call begins.
  void begin_call() noexcept { step_ = 0; }
  // Who has not come to the exchange under way, if there is one. Any thread.
  std::vector<int> missing() const;
  // Of a rank that leaves, before it shows that, and after: others have been in an exchange that it has not come to,
  // and have not waited for it. Null: they have not. Any thread.
  std::exception_ptr why_missed() const;
  // Of a rank that has given up: until no thread of this process reads its bytes any more. Soon: it reads, or it sees
  // that the rank has given up.
  void wait_for_readers() const noexcept;

 private:
  struct Piece {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool in_place = false;
  };
  // A part that a rank shows, checked: it lies in the rank's room, or is an address in this process.
  struct Shown {
    std::uint64_t at = 0;
    bool in_place = false;
  };
  template <class Body>
  void for_each_piece(const Call& call, const Brings& brings, const Body& body);

  void come(const Call& call, const Brings& brings, const Piece& piece);
  void leave(const Call& call, const Brings& brings, const Piece& piece);
  void show(const Call& call, const Piece& piece);
  // Until that rank has come, and does the same.
  void meet(const Call& call, int rank);
  void compare_with_all(const Call& call);
  void refuse_if_anybody_missed(const Call& call) const;
  [[noreturn]] void tell_mismatch(const Call& call);
  bool has_given_up(int rank) const;
  void refuse_given_up(const Call& call, int rank) const;
  void take(const Call& call, const Take& take, const Piece& piece);
  void reduce_piece(const Call& call, int part, Bytes into, const Piece& piece);
  // Of what a rank has shown_, where it can be read: there, or in `scratch`.
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
  std::uint64_t now_ = 0;  // the exchange that is under way, or was the last
  std::uint32_t step_ = 0;
  // What this rank shows, as others cannot change it.
  Card card_;
  std::uint64_t mark_ = 0;
  std::atomic<std::uint64_t> come_{0}, left_{0};
  std::vector<Shown> shown_;  // of each rank, what is reduced now
  std::vector<std::byte> scratch_;
};

}  // namespace distrun::collectives::shm
