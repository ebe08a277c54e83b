#pragma once
// A worker's description of itself, which it puts into the store or sends in a call when it joins.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/rpc/devices/site.hpp>
#include <distrun/runtime/rpc/session/options.hpp>

namespace distrun::rpc {

// Devices are numbers: that of the GPU, or -1 for the CPU.
struct MapRecord {
  std::string worker;
  std::vector<std::int32_t> from;
  std::vector<std::int32_t> to;
};
DISTRUN_FIELDS(MapRecord, m.worker, m.from, m.to)

struct Member {
  std::string name;
  std::int32_t id = 0;
  Incarnation incarnation = 1;
  std::int64_t order = 0;  // of an elastic group: counts all that have joined it
  std::string address;     // of its agent
  DeviceSite site;         // of its GPUs; not counted unless device maps are checked
  std::vector<MapRecord> maps;
  std::vector<std::int32_t> devices;  // that it has declared; empty: those of the maps
  bool names_devices() const noexcept { return !maps.empty() || !devices.empty(); }
};
DISTRUN_FIELDS(Member, m.name, m.id, m.incarnation, m.order, m.address, m.site, m.maps, m.devices)

Member make_member(const Agent& agent, const RpcBackendOptions& options);
// Returns the GPUs of `self` that calls between these members may use: the declared ones, else those of its own maps
// and of other members' maps for it.
std::vector<device::Device> devices_of(const Member& self, const std::vector<Member>& members);
WorkerInfo worker_of(const Member& member);
WorkerRecord record_of(const Member& member);
std::string describe(const Member& member);  // "worker1 (rank 1)"

std::string to_text(const Member& member);
// Throws Error{InvalidArgument} for bytes that are not a member.
Member member_of(std::string_view text);

// Checks the members in the order of their ids, so that all ranks find the same fault. Throws Error{Failed}: "RPC
// worker name X is not unique. Workers 0 and 3 share the same name."
void check_names(const std::vector<Member>& members);
// Throws Error{InvalidArgument, "ValueError"}: "Node worker0 has duplicated target devices in its device map for
// worker1". If not `are_all`, maps may name workers that are not among the members.
void check_device_maps(const std::vector<Member>& members, bool are_all);

}  // namespace distrun::rpc
