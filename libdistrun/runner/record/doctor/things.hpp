#pragma once
// The things that threads wait for: names, kinds, and one entry in the graph for each.
#include <map>
#include <string>

#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

ThingKind kind_of(board::WaitKind kind) noexcept;
ThingKind kind_of(wire::WaitObject object) noexcept;
// Returns "mutex", "condition variable": for a thing without a name.
const char* noun_of(ThingKind kind) noexcept;

// Returns whether one thread holds it while others wait.
bool is_lock(ThingKind kind) noexcept;
// Returns whether ranks meet there.
bool is_meeting(ThingKind kind) noexcept;
// Returns whether it ends a wait by a wake-up that another thread of the same program must send.
bool is_signal(ThingKind kind) noexcept;
// Returns whether bytes pass through it.
bool is_channel(ThingKind kind) noexcept;
bool is_device(ThingKind kind) noexcept;

class Things {
 public:
  explicit Things(Graph& graph) : graph_(graph) {}

  // Returns the index of the thing with this key; an empty key is like no other.
  std::size_t add(ThingKind kind, std::string name, const std::string& key);

 private:
  Graph& graph_;
  std::map<std::string, std::size_t> by_key_;
};

}  // namespace distrun::runner::doctor
