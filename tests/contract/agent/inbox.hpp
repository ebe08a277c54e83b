#pragma once
// The receiver in the cases of agents: keeps messages or handles them as a case says, and records violations of the
// contract by the agent.
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::rpc::testing {

struct Got {
  WorkerId from = -1;
  Message message;
};

// Thread-safe.
class Inbox final : public Receiver {
 public:
  using Answer = std::function<std::unique_ptr<future::HandlerTask>(const WorkerInfo& from, Message& message)>;

  // Sets a handler; call before the first message. Messages are then counted but not kept.
  void answer(Answer answer) { answer_ = std::move(answer); }
  // Makes later messages wait at the end of receive() until let_go().
  void hold();
  void let_go();

  // Return false if the wait takes too long.
  bool wait_messages(std::size_t count);
  bool wait_losses(std::size_t count);
  bool wait_held();

  std::size_t count() const;
  std::vector<Got> take();
  std::vector<std::string> losses() const;  // "worker1: it has left"
  void is_closed();                         // no messages may arrive from now on
  // Another worker takes the place of one that is gone.
  void forget(WorkerId id);
  std::string complaints() const;

  std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message message) noexcept override;
  void lose(const WorkerInfo& peer, const base::Error& why) noexcept override;

 private:
  // Call with the lock held.
  void begin(const WorkerInfo& from, const char* what);
  template <class Ready>
  bool wait(Ready ready);

  Answer answer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Got> got_;
  std::size_t count_ = 0;
  std::vector<std::string> losses_;
  std::set<WorkerKey> active_;  // callers of the calls in progress
  std::set<WorkerKey> lost_;
  std::string complaints_;
  bool is_held_ = false;
  bool is_holding_ = false;
  bool is_closed_ = false;
};

}  // namespace distrun::rpc::testing
