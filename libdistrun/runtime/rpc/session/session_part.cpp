#include <distrun/runtime/rpc/session/session_part.hpp>

namespace distrun::rpc {
namespace {

std::vector<MakeSessionPart>& makers() {
  static auto* const all = new std::vector<MakeSessionPart>;
  return *all;
}

}  // namespace

bool add_session_part(MakeSessionPart make) {
  makers().push_back(make);
  return true;
}

std::vector<std::shared_ptr<SessionPart>> make_session_parts(const std::shared_ptr<Calls>& calls,
                                                             std::uint64_t earlier) {
  std::vector<std::shared_ptr<SessionPart>> parts;
  for (const MakeSessionPart make : makers()) parts.push_back(make(calls, earlier));
  return parts;
}

}  // namespace distrun::rpc
