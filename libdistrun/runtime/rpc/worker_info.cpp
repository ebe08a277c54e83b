#include <distrun/runtime/rpc/worker_info.hpp>

#include <algorithm>
#include <ostream>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kNameSizeMax = 127;
constexpr WorkerId kIdMax = 32767;

bool may_stand_in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == ':';
}

}  // namespace

WorkerInfo::WorkerInfo(std::string name, WorkerId id, base::Location site)
    : WorkerInfo(std::move(name), WorkerKey(id), site) {}

WorkerInfo::WorkerInfo(std::string name, WorkerKey key, base::Location site) : name_(std::move(name)), key_(key) {
  if (name_.empty() || name_.size() > kNameSizeMax || !std::all_of(name_.begin(), name_.end(), may_stand_in_name)) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "Worker name must match ^[A-Za-z0-9-_:]*$, and must be non-empty and shorter than 128 chars, but got " +
                    (name_.size() > kNameSizeMax ? std::to_string(name_.size()) + " chars" : "\"" + name_ + "\""),
                site);
  }
  if (key_.id < 0 || key_.id > kIdMax) {
    throw Error(ErrorKind::InvalidArgument,
                "RPC worker id " + std::to_string(key_.id) + " of \"" + name_ + "\" is out of bounds: 0 to 32767",
                site);
  }
}

std::string to_string(const WorkerInfo& worker) {
  return "WorkerInfo(id=" + std::to_string(worker.id()) + ", name=" + worker.name() + ")";
}
std::ostream& operator<<(std::ostream& out, const WorkerInfo& worker) { return out << to_string(worker); }

}  // namespace distrun::rpc
