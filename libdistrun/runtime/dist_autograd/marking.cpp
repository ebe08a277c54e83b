// How a part of a pass determines which of its messages take part: pass.hpp.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/dist_autograd/pass.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::dist_autograd {
namespace {

using rpc::Value;

// Completes `done` when all calls are answered, with the first error.
class Marked final : public future::Continuation {
 public:
  struct Shared {
    std::atomic<int> open{1};
    std::atomic<bool> has_failed{false};
    future::Future<Value> done;
    void end() noexcept {
      if (open.fetch_sub(1) == 1 && !has_failed.exchange(true)) done.set_result(Value());
    }
    void fail(const std::exception_ptr& error) noexcept {
      if (!has_failed.exchange(true)) done.set_error(error);
    }
  };

  Marked(std::shared_ptr<Shared> shared, WorkerId from) : shared_(std::move(shared)), from_(from) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override { end(done->error()); }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override { end(why); }
  bool is_quick() const noexcept override { return true; }

 private:
  void end(const std::exception_ptr& error) noexcept {
    if (error != nullptr) {
      shared_->fail(std::make_exception_ptr(on_node(from_, rpc::error_of(error))));
    }
    shared_->end();
  }

  const std::shared_ptr<Shared> shared_;
  const WorkerId from_;
};

void add(Pass::Live& live, Pass::Live more) {
  for (auto& [worker, messages] : more) {
    auto& known = live[worker];
    known.insert(known.end(), messages.begin(), messages.end());
  }
}

}  // namespace

Pass::Live Pass::expect(const std::vector<MessageId>& messages) {
  const std::lock_guard lock(mutex_);
  for (const MessageId each : messages) {
    if (marked_.count(each) != 0) continue;
    if (error_) throw *error_;
    if (is_started_) throw Error(ErrorKind::Failed, "RuntimeError", "the backward pass has already begun");
    Ref<SendNode> node = context_->find_send(each);
    if (!node) {
      throw Error(ErrorKind::Failed, "RuntimeError",
                  "Could not find send function for autograd message id: " + std::to_string(each));
    }
    task_->expect(node);
    marked_.insert(each);
    expected_.emplace(each, std::move(node));
  }
  return live_of(task_->new_ends());
}

void Pass::expect_all() {
  std::call_once(all_expected_, [this] {
    std::vector<MessageId> all;
    for (const auto& [message, node] : context_->send_functions()) all.push_back(message);
    expect(all);
  });
}

Pass::Live Pass::live_of(const std::vector<Node*>& ends) {
  Live live;
  for (Node* const end : ends) {
    const auto* const received = dynamic_cast<const RecvNode*>(end);
    if (received == nullptr) continue;
    if (received->context.lock() != context_) {
      throw Error(ErrorKind::Failed, "RuntimeError",
                  "the backward pass of autograd context " + std::to_string(context_->context_id()) +
                      " reaches results that worker " + std::to_string(received->from) +
                      " computed in another context, or in a released one");
    }
    if (live_.insert({received->from, received->message}).second) live[received->from].push_back(received->message);
  }
  return live;
}

bool Pass::add_origins(const std::vector<MessageId>& messages, std::vector<MessageId>& own) const {
  for (const MessageId each : messages) {
    const Ref<RecvNode> node = context_->find_recv(each);
    if (!node || !node->depends_on) return false;
    for (const RecvNode::Origin& origin : *node->depends_on) {
      if (origin.from != contexts_->self()) return false;
      own.push_back(origin.message);
    }
  }
  return true;
}

bool Pass::complete(Live& live) {
  Live fresh = live;
  while (!fresh.empty()) {
    std::vector<MessageId> own;
    for (const auto& [worker, messages] : fresh) {
      if (worker == contexts_->self()) {
        own.insert(own.end(), messages.begin(), messages.end());
      } else if (live[worker].size() > kToldMost || !add_origins(messages, own)) {
        return false;
      }
    }
    fresh = expect(own);
    add(live, fresh);
  }
  live.erase(contexts_->self());
  return true;
}

future::Future<Value> Pass::mark(Live live) {
  for (auto own = live.find(contexts_->self()); own != live.end(); own = live.find(contexts_->self())) {
    const std::vector<MessageId> messages = std::move(own->second);
    live.erase(own);
    add(live, expect(messages));
  }
  const auto shared = std::make_shared<Marked::Shared>();
  for (const auto& [worker, messages] : live) {
    const auto calls = contexts_->calls();
    if (calls == nullptr) throw Error(ErrorKind::Disconnected, "RuntimeError", "RPC was shut down here");
    rpc::CallRequest request{rpc::Destination(int{worker}, {}), rpc::target_of(kMark), {head(), {}}};
    request.arguments.positional.push_back(rpc::to_value(messages));
    shared->open.fetch_add(1);
    try {
      calls->sender().call(std::move(request)).state()->attach(std::make_unique<Marked>(shared, worker));
    } catch (...) {
      shared->fail(std::current_exception());
      shared->end();
    }
  }
  shared->end();
  return shared->done;
}

}  // namespace distrun::dist_autograd
