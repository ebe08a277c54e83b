#pragma once
// Where a gradient leaves a worker, and where it comes back: the two nodes that a message with tensors leaves in the
// graphs of its sender and of its receiver.
//
//   forward    sender: t -> SendNode m   ======= message m =======>   receiver: RecvNode m -> t'
//   backward   sender: SendNode m -> t's maker   <=== gradients ===   receiver: RecvNode m
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::dist_autograd {

using autograd::Gradients;
using autograd::Node;
using rpc::WorkerId;
using rpc::WorkerKey;
using tensor::Ref;

using ContextId = std::int64_t;  // the worker that has opened it in the highest 16 bits, a count in the others
using MessageId = std::int64_t;  // so, of the message's sender
using PassId = std::int64_t;     // so, of the worker that has begun it

class Context;

// Its edges lead to the makers of the tensors that were sent and require a gradient, in the order in which they stand
// in the message; it has an input for each of them.
class SendNode final : public Node {
 public:
  SendNode(MessageId message_, WorkerId to_, std::string what_) : message(message_), to(to_), what(std::move(what_)) {}
  std::string name() const override { return "torch::distributed::autograd::SendRpcBackward"; }
  Gradients apply(Gradients gradients) override;
  bool is_quick() const noexcept override { return true; }

  const MessageId message;
  const WorkerId to;
  const std::string what;  // for people: "my_add() at train.cpp:12" or "the result of my_add()"
};

// The maker of the tensors that were received and require a gradient. It has an input for each that was read, in the
// order of reading; `places` says which of the message's that is.
class RecvNode final : public Node {
 public:
  struct Origin {
    WorkerId from = -1;
    MessageId message = -1;
    friend auto operator<=>(const Origin&, const Origin&) = default;
  };

  RecvNode(std::weak_ptr<Context> context_, MessageId message_, WorkerId from_)
      : context(std::move(context_)), message(message_), from(from_) {}
  std::string name() const override { return "torch::distributed::autograd::RecvRpcBackward"; }
  // Sends them; what becomes of that is the pass's business. Throws Error{Failed} outside of a pass over workers, and
  // if the context was released.
  Gradients apply(Gradients gradients) override;
  bool is_quick() const noexcept override { return true; }

  const std::weak_ptr<Context> context;
  const MessageId message;
  const WorkerId from;
  rpc::DeviceMap devices;             // of gradients: where they are here, and are to be there
  std::vector<std::uint32_t> places;  // by input
  std::uint32_t count = 0;            // of the tensors that require a gradient in the message
  // All messages that what was sent depends on, of those that its sender had received: who has sent them. Nothing: it
  // has not said so, since they are many.
  std::optional<std::vector<Origin>> depends_on;
};

}  // namespace distrun::dist_autograd
