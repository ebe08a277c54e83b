#pragma once
// An agent that keeps sent messages and delivers none: the test answers, and decides whether there is room.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

#include "quiet_agent.hpp"

namespace distrun::rpc {

class KeepingAgent final : public QuietAgent {
 public:
  std::vector<WorkerInfo> worker_infos() const override {
    return {self_, {"worker1", 1}, {"worker2", 2}, {"worker3", 3}};
  }
  void send(WorkerKey, Message message, Urgency) override {
    std::unique_lock lock(mutex_);
    if (refusal_) {
      ++refused_;
      throw Error(*refusal_);
    }
    if (message.kind == MessageKind::Call) calls_.push_back(message.id);
    if (message.kind == MessageKind::Failure) failure_ = message.payload;
    if (message.kind != MessageKind::Cancel || !holds_cancel_ || std::exchange(is_held_, true)) return;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_free_; });
  }
  bool has_room(WorkerKey) const noexcept override {
    const std::lock_guard lock(mutex_);
    return has_room_;
  }

  // Returns the numbers of the sent calls.
  std::vector<std::uint64_t> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Returns the last failure sent.
  Error failure() const {
    const std::lock_guard lock(mutex_);
    wire::ByteReader bytes(wire::view_of(failure_));
    return error_of(read_error(bytes));
  }
  void set_room(bool has_room) {
    const std::lock_guard lock(mutex_);
    has_room_ = has_room;
  }
  // Makes each later send() throw it. Nothing: it throws no more.
  void refuse(std::optional<Error> why) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(why);
  }
  // How many messages it has refused.
  int refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

  // Blocks the first thread that sends a cancellation, which is the thread of timeouts, until let_go().
  void hold_cancel() {
    const std::lock_guard lock(mutex_);
    holds_cancel_ = true;
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
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::uint64_t> calls_;
  wire::Bytes failure_;
  std::optional<Error> refusal_;
  int refused_ = 0;
  bool has_room_ = true, holds_cancel_ = false, is_held_ = false, is_free_ = false;
};

// Calls of worker0 through such an agent.
struct KeptCalls {
  static core::RankState& rank() {
    static auto* const rank = new core::RankState;  // lives as long as the process
    return *rank;
  }

  std::shared_ptr<KeepingAgent> agent = std::make_shared<KeepingAgent>();
  std::shared_ptr<Calls> calls = std::make_shared<Calls>(agent, rank());

  // Returns a call that the test answers.
  static CallRequest request(const char* worker, double seconds, Tensor argument = {}) {
    CallRequest request{Destination(worker).within(seconds), {}, {}};
    request.target.callee = "kept_call";
    request.waits_for_room = true;
    if (argument.defined()) request.arguments.positional.push_back(Value(std::move(argument)));
    return request;
  }
  void answer(std::uint64_t id, WorkerId worker, std::int64_t number) {
    Message message;
    message.kind = MessageKind::Reply;
    message.id = id;
    write_reply(message, Value(number));
    calls->receive(WorkerInfo("worker" + std::to_string(worker), worker), std::move(message));
  }
};

}  // namespace distrun::rpc
