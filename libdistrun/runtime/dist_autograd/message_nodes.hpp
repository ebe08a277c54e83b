#pragma once
// The two nodes that a message with tensors adds to the graphs of its sender and its receiver: gradients leave a worker
// at one and arrive at the other.
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

using ContextId = std::int64_t;  // the opening worker in the highest 16 bits, a count below
using MessageId = std::int64_t;  // the same with the message's sender
using PassId = std::int64_t;     // the same with the worker that has begun it

class Context;

// Its edges lead to the makers of the sent tensors that require a gradient, in the order of the message; it has an
// input for each.
class SendNode final : public Node {
 public:
  SendNode(MessageId message_, WorkerId to_, std::string what_) : message(message_), to(to_), what(std::move(what_)) {}
  std::string name() const override { return "torch::distributed::autograd::SendRpcBackward"; }
  Gradients apply(Gradients gradients) override;
  bool is_quick() const noexcept override { return true; }

  const MessageId message;
  const WorkerId to;
  const std::string what;  // for reports: "my_add() at train.cpp:12" or "the result of my_add()"
};

// The maker of the received tensors that require a gradient. It has an input for each that was read, in the order of
// reading; `places` has its position in the message.
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
  // Sends the gradients; the pass handles the outcome. Throws Error{Failed} outside of a pass over workers, and if the
  // context was released.
  Gradients apply(Gradients gradients) override;
  bool is_quick() const noexcept override { return true; }

  const std::weak_ptr<Context> context;
  const MessageId message;
  const WorkerId from;
  rpc::DeviceMap devices;             // of gradients: their devices here, and at the sender
  std::vector<std::uint32_t> places;  // by input
  std::uint32_t count = 0;            // of tensors in the message that require a gradient
  // All messages, of those that the sender had received, that the sent tensors depend on, with their senders. Unset:
  // there were too many to list.
  std::optional<std::vector<Origin>> depends_on;
};

}  // namespace distrun::dist_autograd
