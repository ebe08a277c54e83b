#include <distrun/runtime/rpc/session/detail/member.hpp>

#include <map>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

std::int32_t number_of(device::Device device) noexcept { return device.is_cpu() ? -1 : device.index; }

MapRecord map_record(const std::string& worker, const DeviceMap& map) {
  MapRecord record{worker, {}, {}};
  for (const auto& [from, to] : map) {
    record.from.push_back(number_of(from));
    record.to.push_back(number_of(to));
  }
  return record;
}

}  // namespace

Member make_member(const Agent& agent, const RpcBackendOptions& options) {
  Member member;
  member.name = agent.worker_info().name();
  member.id = agent.worker_info().id();
  member.incarnation = agent.worker_info().incarnation();
  member.address = agent.address();
  const auto* const pipe = dynamic_cast<const PipeOptions*>(&options);
  if (pipe == nullptr) return member;
  for (const auto& [worker, map] : pipe->device_maps) member.maps.push_back(map_record(worker, map));
  for (const device::Device each : pipe->devices) member.devices.push_back(number_of(each));
  return member;
}

std::vector<device::Device> devices_of(const Member& self, const std::vector<Member>& members) {
  std::vector<std::int32_t> numbers = self.devices;
  if (numbers.empty()) {
    for (const MapRecord& map : self.maps) numbers.insert(numbers.end(), map.from.begin(), map.from.end());
    for (const Member& each : members) {
      for (const MapRecord& map : each.maps) {
        if (map.worker == self.name) numbers.insert(numbers.end(), map.to.begin(), map.to.end());
      }
    }
  }
  std::vector<device::Device> devices;
  for (const std::int32_t number : numbers) {
    if (number >= 0) devices.push_back(device::cuda(static_cast<std::int16_t>(number)));
  }
  return devices;
}

WorkerInfo worker_of(const Member& member) { return {member.name, WorkerKey(member.id, member.incarnation)}; }
WorkerRecord record_of(const Member& member) { return {worker_of(member), member.address}; }

std::string describe(const Member& member) { return member.name + " (rank " + std::to_string(member.id) + ")"; }

std::string to_text(const Member& member) {
  const wire::Bytes bytes = wire::encode(member);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Member member_of(std::string_view text) {
  auto member = wire::decode<Member>(wire::view_of(text.data(), text.size()));
  for (const MapRecord& map : member.maps) {
    if (map.from.size() == map.to.size()) continue;
    throw Error(ErrorKind::InvalidArgument, "a device map of " + member.name + " is cut off");
  }
  [[maybe_unused]] const WorkerInfo refuses_now(member.name, member.id);  // throws if it cannot be a worker
  return member;
}

void check_names(const std::vector<Member>& members) {
  std::map<std::string, std::int32_t> seen;
  for (const Member& each : members) {
    const auto [found, is_new] = seen.emplace(each.name, each.id);
    if (is_new) continue;
    throw Error(ErrorKind::Failed, "RPC worker name " + each.name + " is not unique. Workers " +
                                       std::to_string(found->second) + " and " + std::to_string(each.id) +
                                       " share the same name.");
  }
}

}  // namespace distrun::rpc
