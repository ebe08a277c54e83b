// Rejects invalid device maps: check_device_maps() of member.hpp.
#include <algorithm>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>

namespace distrun::rpc {
namespace {

using Numbers = std::vector<std::int32_t>;

[[noreturn]] void refuse(const Member& member, const std::string& what) {
  throw Error(ErrorKind::InvalidArgument, "ValueError", "Node " + member.name + " has " + what);
}

std::string text_of(const Numbers& numbers) {
  std::string text;
  for (const std::int32_t each : numbers) {
    text += (text.empty() ? "" : ", ") + (each < 0 ? std::string("cpu") : "cuda:" + std::to_string(each));
  }
  return " (" + text + ")";
}

bool has_two(const Numbers& numbers) { return std::set(numbers.begin(), numbers.end()).size() != numbers.size(); }

// Every member has the CPU. An unknown device count limits nothing.
bool are_there(const Numbers& numbers, std::int32_t count) {
  return count == kNotCounted || std::all_of(numbers.begin(), numbers.end(), [&](auto each) { return each < count; });
}
bool are_among(const Numbers& numbers, const Numbers& declared) {
  return std::all_of(numbers.begin(), numbers.end(), [&](std::int32_t each) {
    return each < 0 || std::find(declared.begin(), declared.end(), each) != declared.end();
  });
}

void check_devices(const Member& member) {
  if (has_two(member.devices)) refuse(member, "duplicated devices" + text_of(member.devices));
  if (!are_there(member.devices, member.site.count)) {
    refuse(member, "devices with invalid indices" + text_of(member.devices));
  }
}

// Checks one end of a map against the devices of the member that has them.
void check_end(const Member& blamed, const char* end, const Numbers& numbers, const Member& owner,
               const std::string& behind) {
  if (!owner.devices.empty() && !are_among(numbers, owner.devices)) {
    refuse(blamed, std::string("unexpected ") + end + " devices" + behind + text_of(numbers));
  }
  if (owner.devices.empty() && !are_there(numbers, owner.site.count)) {
    refuse(blamed, std::string(end) + " devices with invalid indices" + behind + text_of(numbers));
  }
}

const Member* find(const std::vector<Member>& members, const std::string& name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& each) { return each.name == name; });
  return found != members.end() ? &*found : nullptr;
}

void check_map(const Member& source, const MapRecord& map, const Member* target) {
  const std::string behind = " in its device map for " + map.worker;
  if (has_two(map.to)) refuse(source, "duplicated target devices" + behind + text_of(map.to));
  check_end(source, "source", map.from, source, behind);
  if (target != nullptr) check_end(source, "target", map.to, *target, behind);
}

}  // namespace

void check_device_maps(const std::vector<Member>& members, bool are_all) {
  for (const Member& each : members) check_devices(each);
  for (const Member& source : members) {
    std::string unknown;
    for (const MapRecord& map : source.maps) {
      if (find(members, map.worker) == nullptr) unknown += (unknown.empty() ? "" : ", ") + map.worker;
    }
    if (are_all && !unknown.empty()) refuse(source, "invalid target node names in its device maps: " + unknown);
    for (const MapRecord& map : source.maps) check_map(source, map, find(members, map.worker));
  }
}

}  // namespace distrun::rpc
