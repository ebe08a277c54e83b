#include <distrun/runner/nodes/link_messages.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/host_list.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kTextMax = 256;
constexpr std::size_t kAddressesMax = 256;
constexpr int kCpusMax = 1 << 16;
constexpr int kGpusMax = 1 << 10;

bool is_short(const std::string& text) { return text.size() <= kTextMax; }

bool is_possible(const launch::Resources& resources) {
  return resources.cpus >= 1 && resources.cpus <= kCpusMax && resources.gpus >= 0 && resources.gpus <= kGpusMax &&
         is_short(resources.why_no_gpu);
}

}  // namespace

Join read_join(wire::BytesView bytes) {
  Join join = wire::decode<Join>(bytes);
  if (!is_host_name(join.host) || join.pid <= 0 || !is_short(join.hostname) || !is_short(join.version) ||
      join.addresses.size() > kAddressesMax || !std::all_of(join.addresses.begin(), join.addresses.end(), is_short) ||
      !is_possible(join.resources)) {
    throw Error(ErrorKind::InvalidArgument, "a join message with impossible contents");
  }
  join.resources.host = join.host;
  return join;
}

}  // namespace distrun::nodes
