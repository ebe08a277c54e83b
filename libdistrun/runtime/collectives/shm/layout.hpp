#pragma once
// The memory that the ranks of a group share, as one memfd:
//
//   AreaHead | Seat of each rank | Part of each rank, card and part | room of each rank and card | MailBox of each pair
//
// An exchange has a number, the same on all ranks, and one place of `kCards` in each seat. A rank comes to exchange n
// by showing what it brings on its card and setting `come` to n; it leaves it when it has taken what it wants. Nobody
// writes a card again before all have left the exchange that it was of. So a card may be read, without any lock, by who
// has seen that its owner has come, and has not left yet.
//
// Ranks that do not call the same are found in every exchange, also where bytes go one way and nobody waits for who
// takes them: of two ranks the one that comes later sees what the other has shown. Beside `come` stands a mark for
// that, in a line that is read anyway; the card is looked at where marks differ.
//
// All numbers that others wait for are written and read in one order that all agree on (seq_cst): who goes to sleep
// shows that first and looks again, who changes something changes it first and looks then who sleeps.
//
// No rank trusts what it reads here: each process of the group may write anywhere at any time. What is read is copied
// once (copied()), checked against its bounds, and used as the copy alone. What a rank must know of itself, and which
// ranks are in its process, it keeps in its own memory (area.hpp).
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
inline constexpr std::uint64_t kCards = 2;                          // exchanges that may be under way
inline constexpr std::size_t kRoom = std::size_t{256} << 10;        // bytes that a rank brings to one, in the room
inline constexpr std::size_t kLetters = 8;                          // on their way from one rank to another
inline constexpr std::size_t kLetterRoom = std::size_t{8} << 10;    // of a letter that carries its bytes
inline constexpr std::size_t kLoans = 32;                           // letters of a rank that are fetched
inline constexpr std::size_t kKeptMost = std::size_t{32} << 20;     // bytes of a rank's letters kept for later receives
inline constexpr int kRanksMax = 256;

// A copy of what another process may be writing: the compiler must not read it again.
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
  std::atomic<std::uint64_t> cause{0};  // Area::cause(): its rank + 1 in the upper half, its process in the lower
};

// One of the pieces that a rank brings.
struct Part {
  std::uint64_t at = 0;  // an offset in the room, or an address in its owner's memory
  std::uint64_t size = 0;
};

// What a rank does in an exchange. Whoever takes part must show the same, but for where it was called and what it
// brings.
struct Card {
  std::uint64_t number = 0;  // of the call
  std::uint64_t bytes = 0;   // Call::bytes(); 0 where ranks may differ
  std::int32_t root = -1;
  std::uint32_t step = 0;  // a call may be several exchanges
  CallKind kind{};
  ReduceOp reduce{};
  DType dtype{};
  std::uint8_t in_place = 0;   // the parts are addresses. No bool: another process may write any byte
  std::uint8_t is_strict = 0;  // Call::is_strict
  std::uint32_t line = 0;
  ShownSizes sizes;
  std::array<char, 48> file{};  // the end of its path, ended by 0
};

enum class Presence : std::uint32_t { Here, Left, GaveUp };

// A loan is who may read a letter's bytes in its sender's memory: 4 * turn + state.
enum class Loan : std::uint64_t { Free, Offered, Fetching, Fetched };

struct alignas(64) Seat {
  // Written in each exchange.
  std::atomic<std::uint64_t> come{0};
  std::atomic<std::uint64_t> left{0};
  std::array<std::atomic<std::uint64_t>, kCards> marks{};  // of its cards: mark_of()
  // Hardly ever written: to look at it costs nothing.
  alignas(64) std::atomic<Presence> presence{Presence::Here};
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint64_t> probe{0};                // where in its memory kMagic stands
  alignas(64) std::atomic<std::uint32_t> reading{0};  // 1: it reads where other ranks of its process have their bytes
  alignas(64) std::atomic<std::uint32_t> bell{0};     // a futex: grows when something has changed for a sleeper
  std::atomic<std::uint32_t> sleepers{0};             // threads of the rank that want to hear it
  alignas(64) std::array<Card, kCards> cards;
  std::array<std::atomic<std::uint64_t>, kLoans> loans{};
  std::array<char, 512> why{};  // it has given up; set before `presence`

  // The rank goes; by itself, once.
  void show_end(Presence how, const std::string& text) noexcept;
};

enum class Carriage : std::uint32_t { Inside, Fetched, Shared };  // where a letter's bytes are

struct LetterHead {
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  DType dtype{};
  Carriage carriage{};
  std::uint64_t loan = 0;  // Fetched, Shared: which, as it was offered
  std::uint32_t loan_index = 0;
  std::uint64_t address = 0;   // Fetched: in the sender's memory
  core::SharedAddress memory;  // Shared
};

struct ShownLetter {
  LetterHead head;
  std::array<std::byte, kLetterRoom> inside;  // Inside; not initialised
};

// From one rank to another.
struct MailBox {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> taken{0};
  std::array<ShownLetter, kLetters> letters;
};

// Where what is, for a number of ranks.
class Layout {
 public:
  explicit Layout(int ranks) noexcept;

  std::size_t seat(int rank) const noexcept { return seats_ + index(rank) * sizeof(Seat); }
  std::size_t part(int rank, std::uint64_t card, int part) const noexcept {
    return parts_ + ((index(rank) * kCards + card) * index(ranks_) + index(part)) * sizeof(Part);
  }
  std::size_t room(int rank, std::uint64_t card) const noexcept {
    return rooms_ + (index(rank) * kCards + card) * kRoom;
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
