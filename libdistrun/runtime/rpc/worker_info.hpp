#pragma once
// Who takes part in RPC: a worker is a rank under a name. The name is what people write, the id what messages carry.
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun::rpc {

using WorkerId = std::int32_t;  // the rank; 0 .. 32767

// A value. Names have 1 to 127 letters, digits, '-', '_' and ':'.
class WorkerInfo {
 public:
  // Throws Error{InvalidArgument} for a name or an id that can't be one.
  WorkerInfo(std::string name, WorkerId id, base::Location site = base::Location::here());

  const std::string& name() const noexcept { return name_; }
  WorkerId id() const noexcept { return id_; }

  friend bool operator==(const WorkerInfo&, const WorkerInfo&) = default;

 private:
  std::string name_;
  WorkerId id_;
};

std::string to_string(const WorkerInfo& worker);  // "WorkerInfo(id=1, name=worker1)"
std::ostream& operator<<(std::ostream& out, const WorkerInfo& worker);

}  // namespace distrun::rpc

namespace distrun {
using rpc::WorkerInfo;
}  // namespace distrun

template <>
struct std::hash<distrun::rpc::WorkerInfo> {
  std::size_t operator()(const distrun::rpc::WorkerInfo& worker) const noexcept {
    return std::hash<std::string>()(worker.name()) ^ static_cast<std::size_t>(worker.id());
  }
};
