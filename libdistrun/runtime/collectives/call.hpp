#pragma once
// A collective as backends get it: host bytes, checked, each buffer contiguous.
//
//   kind           in                        out
//   Broadcast      on the root: one          on the others: one
//   AllReduce      one                       one; may be the same bytes
//   Reduce         one                       on the root: one; may be the same bytes
//   AllGather      one                       one for each rank
//   Gather         one                       on the root: one for each rank
//   Scatter        on the root: one for each rank    one
//   ReduceScatter  one for each rank         one
//   AllToAll       one for each rank         one for each rank
//   Barrier        none                      none
//
// `in` and `out` have the same size on all ranks, except for AllToAll, where each pair of ranks has its own size.
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
inline bool is_point_to_point(CallKind kind) noexcept { return kind == CallKind::Send || kind == CallKind::Receive; }

// A group as seen by one of its ranks. The group rank of a rank is its index in `ranks`.
struct GroupInfo {
  std::string name;        // "world"
  int rank = 0;            // group rank of this rank
  std::vector<int> ranks;  // world ranks

  int size() const noexcept { return static_cast<int>(ranks.size()); }
};

// Sizes of a tensor, as far as other ranks see them.
struct ShownSizes {
  static constexpr std::size_t kMost = 6;
  ShownSizes() = default;
  explicit ShownSizes(std::span<const std::int64_t> sizes) noexcept;

  std::uint32_t dims = 0;  // may be more than `shown` holds
  std::array<std::int64_t, kMost> shown{};
  friend bool operator==(const ShownSizes&, const ShownSizes&) = default;
};
std::string to_string(const ShownSizes& sizes);  // "[2, 3]"

struct Call {
  CallKind kind = CallKind::Barrier;
  std::uint64_t number = 0;  // among the group's collectives, from 1
  ReduceOp reduce = ReduceOp::Sum;
  DType dtype = DType::U8;
  int root = -1;           // a group rank; -1: none
  bool is_strict = false;  // the ranks' sizes must agree too
  ShownSizes sizes;        // of the tensor
  std::vector<ConstBytes> in;
  std::vector<Bytes> out;
  base::TimePoint deadline;
  base::Nanoseconds timeout{};  // as the caller gave it, for errors
  base::Location site;

  // Returns the size of one buffer, for calls with buffers of equal size.
  std::size_t bytes() const noexcept;
};

// A point-to-point message.
struct PointToPoint {
  int peer = -1;  // a group rank; -1: receive from any rank
  std::uint64_t tag = 0;
  DType dtype = DType::U8;
  base::Location site;
  base::Nanoseconds timeout{};  // as the caller gave it, for errors
};

}  // namespace distrun::collectives
