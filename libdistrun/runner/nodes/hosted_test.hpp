#pragma once
// Provides for a node's ranks of a world while they run one test: directories, a store if all ranks run here, and the
// search for what they leave behind, and memory for their traces. Completes the orders that come from the coordinator.
// Lives on: the node's loop.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/trace/memory.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/test_resources.hpp>
#include <distrun/runner/nodes/node_shared.hpp>
#include <distrun/runner/nodes/trace_messages.hpp>

namespace distrun::nodes {

class HostedTest {
 public:
  // `shared`, `world` and `tmp`, which is null if the ranks have no private /tmp, must outlive this. Throws Error if
  // the directories cannot be created.
  HostedTest(const NodeShared& shared, const SpawnRequest& world, TestOfWorld test, const runner::PrivateTmp* tmp);

  // Adds what only this host knows to an order for one of its ranks. Throws Error if a directory cannot be created.
  void complete(wire::RunOrder& order) const;
  // Returns a part of what a rank here has recorded.
  TracePart read_trace(const TraceRequest& request) const;
  // Returns the directory that the ranks share.
  const std::string& shared_dir() const { return dirs_->shared(); }
  // Returns the search for what the ranks leave; null between end_search() and begin_search().
  runner::TestResources* resources() noexcept { return resources_ ? &*resources_ : nullptr; }
  // Ends the search: names that appear from now on are not this test's.
  void end_search() { resources_.reset(); }
  // Begins one for another test in the same directories.
  void begin_search(const std::string& test) { resources_.emplace(shared_.names, dirs_.get(), tmp_, test); }
  // Returns whether the directories are kept for inspection.
  bool are_dirs_kept() const noexcept { return dirs_->kept(); }
  // Removes the directories. Returns what could not be removed, or empty.
  std::string clear() { return dirs_->clear(); }
  // Returns the things that ranks go on using if they have set up their suite during this test.
  std::vector<std::shared_ptr<const void>> in_use() const { return {dirs_, store_}; }

 private:
  void make_trace();
  std::string suite_dir(const wire::RunOrder& order) const;

  const NodeShared& shared_;
  const SpawnRequest& world_;
  const TestOfWorld test_;
  const runner::PrivateTmp* const tmp_;
  const std::shared_ptr<runner::WorkDirs> dirs_;
  const std::shared_ptr<runner::AttemptStore> store_;  // null: other hosts have ranks, too, or they run a program
  std::unique_ptr<trace::Memory> trace_;               // null: the ranks are not traced
  std::string why_no_trace_;                           // although they should be
  std::optional<runner::TestResources> resources_;
};

}  // namespace distrun::nodes
