#pragma once
// Global ids of references and forks: the worker that created the id, and its count. A worker counts its references and
// forks together, from 0 when its session begins. In an elastic group, successors under an id start beyond the numbers
// that their predecessors can have reached: ids of those may still be held elsewhere.
#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rref {

using rpc::Incarnation;
using rpc::WorkerId;
using rpc::WorkerKey;

inline constexpr std::int64_t kIdsOfWorker = std::int64_t{1} << 40;
inline constexpr std::uint64_t kEarlierMax = 1U << 22;  // successive workers of one id; after that, ids repeat

template <class Tag>
struct GlobalId {
  WorkerId created_on = -1;
  std::int64_t local_id = -1;
  friend auto operator<=>(const GlobalId&, const GlobalId&) = default;
};
template <class Archive, class Tag>
void fields(Archive& archive, const GlobalId<Tag>& m) {
  archive(m.created_on, m.local_id);
}
template <class Archive, class Tag>
void fields(Archive& archive, GlobalId<Tag>& m) {
  archive(m.created_on, m.local_id);
}

using RRefId = GlobalId<struct RRefTag>;  // of a value with an owner
using ForkId = GlobalId<struct ForkTag>;  // of one holder of a reference to the value

template <class Tag>
std::string to_string(const GlobalId<Tag>& id) {
  return "GloballyUniqueId(created_on=" + std::to_string(id.created_on) + ", local_id=" + std::to_string(id.local_id) +
         ")";
}

struct HashId {
  template <class Tag>
  std::size_t operator()(const GlobalId<Tag>& id) const noexcept {
    return static_cast<std::size_t>(id.created_on) << 48 ^ static_cast<std::size_t>(id.local_id);
  }
};

}  // namespace distrun::rref
