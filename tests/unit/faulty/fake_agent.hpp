#pragma once
// An agent that records the messages to send, and receives what a case says.
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <agents/faulty/faulty_agent.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::agents::faulty::testing {

struct Sent {
  rpc::WorkerId to = -1;
  rpc::Message message;
};

class FakeAgent final : public rpc::Agent {
 public:
  const rpc::WorkerInfo& worker_info() const noexcept override { return self_; }
  std::vector<rpc::WorkerInfo> worker_infos() const override {
    std::vector<rpc::WorkerInfo> all{self_};
    const std::lock_guard lock(mutex_);
    all.insert(all.end(), others_.begin(), others_.end());
    return all;
  }
  std::string address() const override { return "fake"; }
  void add_worker(const rpc::WorkerRecord& record) override {
    const std::lock_guard lock(mutex_);
    others_.push_back(record.worker);
  }
  void remove_worker(rpc::WorkerKey worker) noexcept override {
    const std::lock_guard lock(mutex_);
    std::erase_if(others_, [&](const rpc::WorkerInfo& each) { return each.key().matches(worker); });
    changed_.notify_all();
  }
  void start(rpc::Receiver& receiver) override { receiver_ = &receiver; }
  void send(rpc::WorkerKey to, rpc::Message message, rpc::Urgency) override {
    const std::lock_guard lock(mutex_);
    if (refuses_) throw Error(ErrorKind::Disconnected, "it is gone");
    sent_.push_back({to.id, std::move(message)});
    changed_.notify_all();
  }
  std::shared_ptr<future::Progress> progress() const noexcept override { return nullptr; }
  void close(base::Nanoseconds) noexcept override { is_closed_ = true; }
  std::map<std::string, std::string> debug_info() const override { return {{"fake", "1"}}; }

  void refuse() {
    const std::lock_guard lock(mutex_);
    refuses_ = true;
  }
  rpc::Receiver& receiver() const { return *receiver_; }
  bool is_closed() const { return is_closed_; }
  // Returns the ids of the sent messages: "1 3 2". Waits for `at_least` messages.
  std::string ids(std::size_t at_least = 0) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return sent_.size() >= at_least; });
    std::string text;
    for (const Sent& each : sent_) text += (text.empty() ? "" : " ") + std::to_string(each.message.id);
    return text;
  }
  // Returns the last message.
  Sent last() {
    const std::lock_guard lock(mutex_);
    return sent_.back();
  }
  bool wait_removed(rpc::WorkerId id) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return std::none_of(others_.begin(), others_.end(), [id](const auto& each) { return each.id() == id; });
    });
  }

 private:
  const rpc::WorkerInfo self_{"worker0", 0};
  rpc::Receiver* receiver_ = nullptr;
  bool is_closed_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<rpc::WorkerInfo> others_;
  std::vector<Sent> sent_;
  bool refuses_ = false;
};

class Heard final : public rpc::Receiver {
 public:
  std::unique_ptr<future::HandlerTask> receive(const rpc::WorkerInfo&, rpc::Message message) noexcept override {
    const std::lock_guard lock(mutex_);
    received_ += (received_.empty() ? "" : " ") + std::to_string(message.id);
    return nullptr;
  }
  void lose(const rpc::WorkerInfo& peer, const base::Error& why) noexcept override {
    const std::lock_guard lock(mutex_);
    losses_.push_back(peer.name() + ": " + why.text());
    changed_.notify_all();
  }
  std::string received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }
  std::vector<std::string> losses(std::size_t at_least = 0) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return losses_.size() >= at_least; });
    return losses_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string received_;  // guarded by mutex_, like the next member
  std::vector<std::string> losses_;
};

// worker0 with a plan; it knows worker1 and worker2.
struct World {
  explicit World(const std::string& plan)
      : agent(inner, plan.empty() ? wire::FaultPlan() : wire::parse_fault_plan("plan", plan)) {
    agent.start(heard);
    for (rpc::WorkerId id = 1; id <= 2; ++id) agent.add_worker(record_of(id));
  }
  static rpc::WorkerRecord record_of(rpc::WorkerId id, const std::string& address = "here") {
    return {rpc::WorkerInfo("worker" + std::to_string(id), id), address};
  }
  void send(std::uint64_t id, rpc::MessageKind kind = rpc::MessageKind::Reply, rpc::WorkerId to = 1) {
    rpc::Message message;
    message.kind = kind;
    message.id = id;
    message.payload = {std::byte{1}, static_cast<std::byte>(id)};
    agent.send(to, std::move(message), rpc::Urgency::Later);
  }
  std::string info(const std::string& key) const {
    const auto info = agent.debug_info();
    const auto found = info.find(key);
    return found == info.end() ? "" : found->second;
  }

  std::shared_ptr<FakeAgent> inner = std::make_shared<FakeAgent>();
  Heard heard;
  FaultyAgent agent;
};

}  // namespace distrun::agents::faulty::testing
