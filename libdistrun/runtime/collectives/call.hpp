#pragma once
// A collective as backends get it: bytes of the host, checked and in one piece each.
//
//   kind           in                    out
//   Broadcast      of the root: one      of the others: one
//   AllReduce      one                   one; may be the same bytes
//   Reduce         one                   of the root: one; may be the same bytes
//   AllGather      one                   one for each rank
//   Gather         one                   of the root: one for each rank
//   Scatter        of the root: one for each rank     one
//   ReduceScatter  one for each rank     one
//   AllToAll       one for each rank     one for each rank
//   Barrier        none                  none
//
// Of all ranks `in` and `out` are of one size, but those of AllToAll, which two ranks know of each other.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/runtime/collectives/reduction.hpp>

namespace distrun::collectives {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

enum class CallKind : std::uint8_t {
  Barrier,
  Broadcast,
  AllReduce,
  Reduce,
  AllGather,
  Gather,
  Scatter,
  ReduceScatter,
  AllToAll,
  Send,
  Receive
};
inline constexpr int kCallKinds = 11;
const char* name_of(CallKind kind) noexcept;  // "all_reduce"
inline bool is_letter(CallKind kind) noexcept { return kind == CallKind::Send || kind == CallKind::Receive; }

// Of a group, as one of its ranks knows it. A rank's place in the group is its index in `ranks`.
struct GroupInfo {
  std::string name;        // "world"
  int rank = 0;            // this one's place
  std::vector<int> ranks;  // as the runner counts them

  int size() const noexcept { return static_cast<int>(ranks.size()); }
};

// Sizes of a tensor, as far as they are shown to others.
struct ShownSizes {
  static constexpr std::size_t kMost = 6;
  ShownSizes() = default;
  explicit ShownSizes(std::span<const std::int64_t> sizes) noexcept;

  std::uint32_t dims = 0;  // may be more than are shown
  std::array<std::int64_t, kMost> shown{};
  friend bool operator==(const ShownSizes&, const ShownSizes&) = default;
};
std::string to_string(const ShownSizes& sizes);  // "[2, 3]"

struct Call {
  CallKind kind = CallKind::Barrier;
  std::uint64_t number = 0;  // among the collectives of the group, from 1
  ReduceOp reduce = ReduceOp::Sum;
  DType dtype = DType::U8;
  int root = -1;           // a place; -1: there is none
  bool is_strict = false;  // ranks must agree in the sizes too
  ShownSizes sizes;        // of the tensor
  std::vector<ConstBytes> in;
  std::vector<Bytes> out;
  base::TimePoint deadline;
  base::Location site;

  // Of one of them, where all have one size.
  std::size_t bytes() const noexcept;
};

// Between two ranks.
struct Letter {
  int peer = -1;  // a place; -1: whoever comes first, of what is received
  std::uint64_t tag = 0;
  DType dtype = DType::U8;
  base::Location site;
};

}  // namespace distrun::collectives
