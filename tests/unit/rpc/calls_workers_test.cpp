// The workers that calls find while others join.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>
#include <utility>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>

#include "quiet_agent.hpp"

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

// Slow worker_infos() returns some time after it has read the workers: as soon as another thread has completed the
// question, or after 300 ms.
class SlowAgent final : public QuietAgent {
 public:
  std::vector<WorkerInfo> worker_infos() const override {
    std::unique_lock lock(mutex_);
    std::vector<WorkerInfo> read = workers_;
    if (std::exchange(is_slow_, false)) {
      is_reading_ = true;
      changed_.notify_all();
      changed_.wait_for(lock, 300ms, [&] { return is_through_; });
    }
    return read;
  }
  void add_worker(const WorkerRecord& record) override {
    const std::lock_guard lock(mutex_);
    workers_.push_back(record.worker);
  }

  void set_slow() {
    const std::lock_guard lock(mutex_);
    is_slow_ = true;
  }
  void wait_for_reader() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_reading_; });
  }
  void set_through() {
    const std::lock_guard lock(mutex_);
    is_through_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<WorkerInfo> workers_{self_};  // guarded by mutex_, like all below
  mutable bool is_slow_ = false, is_reading_ = false;
  bool is_through_ = false;
};

TEST_CASE("workers that join at the same time are all found") {
  static auto* const rank = new core::RankState;  // lives as long as the process
  const auto agent = std::make_shared<SlowAgent>();
  const auto calls = std::make_shared<Calls>(agent, *rank);
  agent->add_worker({{"worker1", 1}, "nowhere"});
  agent->set_slow();
  {
    const base::Thread first("first", [&] { calls->workers().refresh(); });
    agent->wait_for_reader();
    agent->add_worker({{"worker2", 2}, "nowhere"});
    calls->workers().refresh();
    agent->set_through();
  }
  CHECK(calls->workers().resolve(Destination("worker1")).id() == 1);
  CHECK(calls->workers().resolve(Destination("worker2")).id() == 2);
}

}  // namespace
}  // namespace distrun::rpc
