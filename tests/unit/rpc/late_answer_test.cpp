// Answers that come after the deadline of their call.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

// Remembers the last call that it was given. The first thread that sends it a cancellation, which is the thread of
// timeouts, stays there until let_go().
class HoldingAgent final : public Agent {
 public:
  const WorkerInfo& worker_info() const noexcept override { return self_; }
  std::vector<WorkerInfo> worker_infos() const override { return {self_, peer_}; }
  std::string address() const override { return "nowhere"; }
  void add_worker(const WorkerRecord&) override {}
  void remove_worker(WorkerKey) noexcept override {}
  void start(Receiver&) override {}
  void send(WorkerKey, Message message, Urgency) override {
    std::unique_lock lock(mutex_);
    if (message.kind == MessageKind::Call) last_call_ = message.id;
    if (message.kind != MessageKind::Cancel || std::exchange(is_held_, true)) return;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_free_; });
  }
  std::shared_ptr<future::Progress> progress() const noexcept override { return nullptr; }
  void close(base::Nanoseconds) noexcept override {}
  std::map<std::string, std::string> debug_info() const override { return {}; }

  std::uint64_t last_call() const {
    const std::lock_guard lock(mutex_);
    return last_call_;
  }
  void wait_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_held_; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    is_free_ = true;
    changed_.notify_all();
  }

 private:
  const WorkerInfo self_{"worker0", 0}, peer_{"worker1", 1};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_call_ = 0;  // guarded by mutex_, as all below
  bool is_held_ = false, is_free_ = false;
};

CallRequest request_within(double seconds) {
  CallRequest request{Destination("worker1").within(seconds), {}, {}};
  request.target.callee = "late_answer";
  return request;
}

}  // namespace

TEST_CASE("an answer that comes after its call's deadline is a timeout, whatever the thread of timeouts is doing") {
  static auto* const rank = new core::RankState;  // lives as long as the process
  const auto agent = std::make_shared<HoldingAgent>();
  const auto calls = std::make_shared<Calls>(agent, *rank);
  const auto answer = [&](std::uint64_t id) {
    Message message;
    message.kind = MessageKind::Reply;
    message.id = id;
    write_reply(message, Value(std::int64_t{7}));
    calls->receive(WorkerInfo("worker1", 1), std::move(message));
  };
  const auto first = calls->call(request_within(0.001));
  agent->wait_held();
  const auto late = calls->call(request_within(0.001));
  const base::TimePoint over = base::system_clock().now() + 1ms;
  const std::uint64_t late_id = agent->last_call();
  const auto in_time = calls->call(request_within(60));
  while (base::system_clock().now() <= over) {
  }
  answer(late_id);
  answer(agent->last_call());
  agent->let_go();
  CHECK(testing::error_of([&] { first.wait(); }).kind() == ErrorKind::Timeout);
  CHECK_THAT(testing::error_of([&] { late.wait(); }).text(), Catch::Contains("ran for more than set timeout (1 ms)"));
  CHECK(from_value<std::int64_t>(in_time.wait()) == 7);
}

}  // namespace distrun::rpc
