#include <distrun/runtime/rpc/successor.hpp>

namespace distrun::rpc {

bool is_successor(const WorkerInfo& one, const WorkerInfo& other) noexcept {
  return one.id() == other.id() && other.incarnation() != 0 && one.incarnation() > other.incarnation();
}

base::Error replaced_error(const WorkerInfo& worker) {
  return Error(ErrorKind::Disconnected, worker.name() + " has left: another worker has joined in its place");
}

base::Error outdated_error(const WorkerInfo& worker) {
  return Error(ErrorKind::InvalidArgument, to_string(worker) + " has left: another worker has its id by now");
}

}  // namespace distrun::rpc
