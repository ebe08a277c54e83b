#pragma once
// A worker is a rank that takes part in RPC, under a name. Users write the name; messages carry the id.
//
// In an elastic group several workers have the same id, one after the other. The incarnation distinguishes them: every
// message, answer and loss belongs to one incarnation and never reaches the next one.
#include <compare>
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
// Counts the workers that have joined under one id: 1, 2, ... A group of a fixed size has 1 only. 0: not known.
using Incarnation = std::uint32_t;

// Identifies one worker. Incarnation 0 stands for the worker that has the id at the moment.
struct WorkerKey {
  WorkerId id = -1;             // -1: no worker
  Incarnation incarnation = 0;  // 0: any

  WorkerKey() = default;
  // Converts from an id, which stands for any incarnation.
  WorkerKey(WorkerId id_, Incarnation incarnation_ = 0) : id(id_), incarnation(incarnation_) {}
  // Returns whether both can be the same worker: incarnations that are known are equal.
  bool matches(WorkerKey other) const noexcept {
    return id == other.id && (incarnation == other.incarnation || incarnation == 0 || other.incarnation == 0);
  }
  friend auto operator<=>(const WorkerKey&, const WorkerKey&) = default;
};

// A value type. Names have 1 to 127 letters, digits, '-', '_' and ':'.
class WorkerInfo {
 public:
  // Throws Error{InvalidArgument} for an invalid name or id.
  WorkerInfo(std::string name, WorkerId id, base::Location site = base::Location::here());
  WorkerInfo(std::string name, WorkerKey key, base::Location site = base::Location::here());

  const std::string& name() const noexcept { return name_; }             // unique among the workers
  WorkerId id() const noexcept { return key_.id; }                       // the rank
  Incarnation incarnation() const noexcept { return key_.incarnation; }  // 0: not known
  WorkerKey key() const noexcept { return key_; }                        // both

  // Returns whether both can be the same worker, as WorkerKey::matches(), and have the same name.
  bool matches(const WorkerInfo& other) const noexcept { return name_ == other.name_ && key_.matches(other.key_); }
  // Compares name and id only.
  friend bool operator==(const WorkerInfo& one, const WorkerInfo& other) noexcept {
    return one.id() == other.id() && one.name_ == other.name_;
  }

 private:
  std::string name_;
  WorkerKey key_;
};

std::string to_string(const WorkerInfo& worker);                        // "WorkerInfo(id=1, name=worker1)"
std::ostream& operator<<(std::ostream& out, const WorkerInfo& worker);  // prints to_string()

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
