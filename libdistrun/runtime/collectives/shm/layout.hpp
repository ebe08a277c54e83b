#pragma once
// The memory that the ranks of a group share, as one memfd:
//
//   AreaHead | Seat of each rank | Part of each rank, slot header and part | room of each rank and slot header |
//   MailBox of each pair
//
// An exchange has a number, the same on all ranks, and one of the `kSlots` slot headers in each seat. A rank arrives at
// exchange n by writing what it brings to its slot header and setting `come` to n; it leaves when it has taken what it
// wants. A slot header is not rewritten before all ranks have left its exchange. So a rank may read a slot header
// without a lock, from when it has seen that the slot header's owner has arrived until it leaves the exchange itself.
//
// Differing calls are detected in every exchange, even where bytes go one way and no rank waits for the takers: of two
// ranks the later one sees what the other has shown. A mark for that is next to `come`, in a cache line that is read
// anyway; the slot header is only read if marks differ.
//
// All counters that others wait for are seq_cst: a rank that goes to sleep announces it and then checks again; a rank
// that changes something changes it and then checks for sleepers.
//
// Ranks do not trust what they read here, since each process of the group may write anywhere at any time. Values are
// copied once (copied()), checked, and only the copy is used. What a rank must know of itself, and which ranks are in
// its process, is kept in private memory (area.hpp).
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

namespace distrun::collectives::shm {

inline constexpr std::uint64_t kMagic = 0x32'6d'68'73'75'72'74'64;  // "dtrushm2"
inline constexpr std::uint64_t kSlots = 2;                          // exchanges that may be active
inline constexpr std::size_t kRoom = std::size_t{256} << 10;      // bytes that a rank can bring to an exchange at once
inline constexpr std::size_t kMessages = 8;                       // in flight from one rank to another
inline constexpr std::size_t kLetterRoom = std::size_t{8} << 10;  // bytes of a message that carries its bytes
inline constexpr std::size_t kReads = 32;                         // messages of a rank that are read from its memory
inline constexpr std::size_t kKeptMost = std::size_t{32} << 20;  // bytes of a sender's messages kept for later receives
inline constexpr int kRanksMax = 256;

// Returns a copy of data that another process may be writing; the compiler must not read it again.
template <class T>
T copied(const T& shared) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T copy;
  std::memcpy(&copy, &shared, sizeof copy);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return copy;
}

struct AreaHead {
  std::atomic<std::uint64_t> magic{0};
  std::atomic<std::uint64_t> cause{0};  // of Area::cause(): world rank + 1 in the upper half, process in the lower
};

// One of the parts that a rank brings.
struct Part {
  std::uint64_t at = 0;  // an offset in the room, or an address in its owner's memory
  std::uint64_t size = 0;
};

// Describes a rank's call in an exchange. All ranks must show the same, except for the call site and the parts.
struct SlotHeader {
  std::uint64_t number = 0;  // of the call
  std::uint64_t bytes = 0;   // Call::bytes(); 0 where ranks may differ
  std::int32_t root = -1;
  std::uint32_t step = 0;  // index of the exchange in its call
  CallKind kind{};
  ReduceOp reduce{};
  DType dtype{};
  std::uint8_t in_place = 0;   // the parts are addresses. Not a bool: another process may write any byte
  std::uint8_t is_strict = 0;  // Call::is_strict
  std::uint32_t line = 0;
  ShownSizes sizes;
  std::array<char, 48> file{};  // the end of its path, null-terminated
};

enum class Presence : std::uint32_t { Here, Left, GaveUp };

// State of a direct read of a message's bytes from the sender's memory. Stored as 4 * turn + state.
enum class ReadState : std::uint64_t { Free, Offered, Fetching, Fetched };

struct alignas(64) Seat {
  // Written in each exchange.
  std::atomic<std::uint64_t> come{0};
  std::atomic<std::uint64_t> left{0};
  std::array<std::atomic<std::uint64_t>, kSlots> marks{};  // mark_of() each slot header
  // Rarely written, so reading it is cheap.
  alignas(64) std::atomic<Presence> presence{Presence::Here};
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint64_t> probe{0};                // address of a kMagic in its memory
  alignas(64) std::atomic<std::uint32_t> reading{0};  // 1: it reads bytes of ranks of its process in place
  alignas(64) std::atomic<std::uint32_t> bell{0};     // a futex, incremented when something has changed for a sleeper
  std::atomic<std::uint32_t> sleepers{0};             // threads of the rank that wait for the bell
  alignas(64) std::array<SlotHeader, kSlots> headers;
  std::array<std::atomic<std::uint64_t>, kReads> reads{};
  std::array<char, 512> why{};  // why it gave up; set before `presence`

  // Called once by the rank itself when it leaves.
  void show_end(Presence how, const std::string& text) noexcept;
};

// Where a message's bytes are; Sent: they came with it over TCP (mirror.hpp).
enum class Carriage : std::uint32_t { Inside, Fetched, Shared, Sent };

struct MessageHeader {
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  DType dtype{};
  Carriage carriage{};
  std::uint64_t read_word = 0;  // Fetched, Shared: the ReadState word as offered
  std::uint32_t read_index = 0;
  std::uint64_t address = 0;   // Fetched: in the sender's memory
  core::SharedAddress memory;  // Shared
};

inline bool carries_bytes(const MessageHeader& head) noexcept {
  return head.carriage == Carriage::Inside || head.carriage == Carriage::Sent;
}

struct MessageSlot {
  MessageHeader head;
  std::array<std::byte, kLetterRoom> inside;  // Inside; not initialized
};

// Messages from one rank to another.
struct MailBox {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> taken{0};
  std::array<MessageSlot, kMessages> messages;
};

// The offsets of all parts, for a number of ranks.
class Layout {
 public:
  explicit Layout(int ranks) noexcept;

  std::size_t seat(int rank) const noexcept { return seats_ + index(rank) * sizeof(Seat); }
  std::size_t part(int rank, std::uint64_t header, int part) const noexcept {
    return parts_ + ((index(rank) * kSlots + header) * index(ranks_) + index(part)) * sizeof(Part);
  }
  std::size_t room(int rank, std::uint64_t header) const noexcept {
    return rooms_ + (index(rank) * kSlots + header) * kRoom;
  }
  std::size_t mail_box(int from, int to) const noexcept {
    return boxes_ + (index(from) * index(ranks_) + index(to)) * sizeof(MailBox);
  }
  std::size_t size() const noexcept { return size_; }

 private:
  static std::size_t index(int number) noexcept { return static_cast<std::size_t>(number); }

  int ranks_;
  std::size_t seats_, parts_, rooms_, boxes_, size_;
};

}  // namespace distrun::collectives::shm
