#include <distrun/runner/nodes/link_messages.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/host_list.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kTextMax = 256;
constexpr std::size_t kAddressesMax = 256;

}  // namespace

Join read_join(wire::BytesView bytes) {
  Join join = wire::decode<Join>(bytes);
  const auto is_short = [](const std::string& text) { return text.size() <= kTextMax; };
  if (!is_host_name(join.host) || join.pid <= 0 || !is_short(join.hostname) || !is_short(join.version) ||
      join.addresses.size() > kAddressesMax || !std::all_of(join.addresses.begin(), join.addresses.end(), is_short)) {
    throw Error(ErrorKind::InvalidArgument, "a join message with impossible contents");
  }
  return join;
}

}  // namespace distrun::nodes
