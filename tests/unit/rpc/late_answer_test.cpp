// Answers that come, or are read, after the deadline of their call.
#include <catch2/catch.hpp>

#include <functional>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

#include "keeping_agent.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

// The decoder of these objects runs a function of the test.
struct Slow {
  int number = 0;
};
std::function<void()> while_decoding;
[[maybe_unused]] const auto slow = RegisterClass<Slow>("late_answer_test.Slow")
                                       .by_value([](const Slow& object) { return object.number; },
                                                 [](int number) {
                                                   while_decoding();
                                                   return Slow{number};
                                                 });

// Lets through once it is open, or when the test has failed.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, testing::scaled(20s), [this] { return is_open_; });
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

// The task that reads an answer of worker1 to that call, with such an object; null: the call was over by then.
std::unique_ptr<future::HandlerTask> receive_slow(const KeptCalls& kept, std::uint64_t id) {
  Message message;
  message.kind = MessageKind::Reply;
  message.id = id;
  write_reply(message, to_value(Slow{7}));
  return kept.calls->receive(WorkerInfo("worker1", 1), std::move(message));
}

constexpr const char* kUnreadText = "its answer came in time, but its value was not decoded by the deadline";

// Returns the error of a call of some 100 ms; the decoder of its answer does not return before the error is there.
// `call`: makes the call, and waits for it.
Error error_while_decoding(const std::function<void(KeptCalls&, double)>& call) {
  for (double seconds = 0.1;; seconds *= 2) {
    KeptCalls kept;
    Gate gate;
    while_decoding = [&] { gate.wait(); };
    Error error(ErrorKind::Failed, "nothing was thrown");
    base::Thread caller("caller", [&] {
      try {
        call(kept, seconds);
      } catch (const Error& thrown) {
        error = thrown;
      }
    });
    REQUIRE(testing::eventually(testing::scaled(20s), [&] { return !kept.agent->calls().empty(); }));
    const std::unique_ptr<future::HandlerTask> task = receive_slow(kept, kept.agent->calls().front());
    base::Thread reader("reader", [&] {
      if (task != nullptr) task->run();
    });
    caller.join();
    gate.open();
    reader.join();
    CHECK(kept.calls->counts().waiting == 0);
    if (task != nullptr) return error;  // else it was late before it was read: once more, with more time
  }
}

}  // namespace

TEST_CASE("an answer after its call's deadline is a timeout, even if the timeout thread is busy") {
  KeptCalls kept;
  kept.agent->hold_cancel();
  const auto first = kept.calls->sender().call(KeptCalls::request("worker1", 0.001));
  kept.agent->wait_held();
  const auto late = kept.calls->sender().call(KeptCalls::request("worker1", 0.001));
  const base::TimePoint over = base::system_clock().now() + 1ms;
  const auto in_time = kept.calls->sender().call(KeptCalls::request("worker1", 60));
  while (base::system_clock().now() <= over) {
  }
  const std::vector<std::uint64_t> sent = kept.agent->calls();
  REQUIRE(sent.size() == 3);
  kept.answer(sent[1], 1, 7);
  kept.answer(sent[2], 1, 8);
  kept.agent->let_go();
  CHECK(testing::error_of([&] { first.wait(); }).kind() == ErrorKind::Timeout);
  CHECK_THAT(testing::error_of([&] { late.wait(); }).text(), Catch::Contains("ran for more than set timeout (1 ms)"));
  CHECK(from_value<std::int64_t>(in_time.wait()) == 8);
}

// The timeout thread has found nothing to withdraw at the agent by then.
TEST_CASE("a call that times out before the agent has it is cancelled again once the agent has it") {
  class SlowAgent final : public QuietAgent {
   public:
    std::vector<WorkerInfo> worker_infos() const override { return {self_, {"worker1", 1}}; }
    void send(WorkerKey, Message message, Urgency) override {
      if (message.kind == MessageKind::Call && message.id == 2) cancelled.wait();
      {
        const std::lock_guard lock(mutex_);
        sent_.emplace_back(message.kind, message.id);
      }
      if (message.kind == MessageKind::Cancel && message.id == 2) cancelled.open();
    }
    std::vector<std::pair<MessageKind, std::uint64_t>> sent_of_second() const {
      const std::lock_guard lock(mutex_);
      auto sent = sent_;
      std::erase_if(sent, [](const auto& each) { return each.second != 2; });
      return sent;
    }
    Gate cancelled;

   private:
    mutable std::mutex mutex_;
    std::vector<std::pair<MessageKind, std::uint64_t>> sent_;  // guarded by mutex_
  };
  const auto agent = std::make_shared<SlowAgent>();
  const auto calls = std::make_shared<Calls>(agent, KeptCalls::rank());
  const auto watched = calls->sender().call(KeptCalls::request("worker1", 0.2));
  const auto late = calls->sender().call(KeptCalls::request("worker1", 0.001));
  const auto sent = agent->sent_of_second();
  CHECK(sent == std::vector{std::pair{MessageKind::Cancel, std::uint64_t{2}},
                            std::pair{MessageKind::Call, std::uint64_t{2}},
                            std::pair{MessageKind::Cancel, std::uint64_t{2}}});
  CHECK(testing::error_of([&] { late.wait(); }).kind() == ErrorKind::Timeout);
  CHECK(testing::error_of([&] { watched.wait(); }).kind() == ErrorKind::Timeout);
}

TEST_CASE("a call with an answer that is still being decoded at its deadline is a timeout") {
  const auto sync = [](KeptCalls& kept, double seconds) {
    kept.calls->sender().call_and_wait(KeptCalls::request("worker1", seconds));
  };
  const auto async = [](KeptCalls& kept, double seconds) {
    kept.calls->sender().call(KeptCalls::request("worker1", seconds)).wait(testing::scaled(20s));
  };
  for (const auto& call : std::vector<std::function<void(KeptCalls&, double)>>{sync, async}) {
    const Error error = error_while_decoding(call);
    CHECK(error.kind() == ErrorKind::Timeout);
    CHECK_THAT(error.text(), Catch::Contains("ran for more than set timeout") && Catch::Contains(kUnreadText));
  }
}

TEST_CASE("an answer decoded only after the deadline is a timeout, even if the timeout thread is busy") {
  KeptCalls kept;
  kept.agent->hold_cancel();
  const auto first = kept.calls->sender().call(KeptCalls::request("worker1", 0.001));
  kept.agent->wait_held();
  std::unique_ptr<future::HandlerTask> task;
  for (double seconds = 0.1; task == nullptr; seconds *= 2) {
    const auto begin = base::system_clock().now();
    while_decoding = [over = begin + base::nanoseconds_of(2 * seconds)] {
      while (base::system_clock().now() <= over) {
      }
    };
    const auto late = kept.calls->sender().call(KeptCalls::request("worker1", seconds));
    task = receive_slow(kept, kept.agent->calls().back());
    if (task == nullptr) continue;
    task->run();
    CHECK_THAT(testing::error_of([&] { late.wait(); }).text(), Catch::Contains(kUnreadText));
  }
  kept.agent->let_go();
  CHECK(testing::error_of([&] { first.wait(); }).kind() == ErrorKind::Timeout);
}

TEST_CASE("an answer decoded in time is the call's value, even if its worker is lost meanwhile") {
  KeptCalls kept;
  const auto call = kept.calls->sender().call(KeptCalls::request("worker1", 60));
  while_decoding = [&] { kept.calls->lose(WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "gone")); };
  receive_slow(kept, kept.agent->calls().back())->run();
  CHECK(from_value<Slow>(call.wait()).number == 7);
  CHECK(kept.calls->counts().is_quiet());
}

}  // namespace distrun::rpc
