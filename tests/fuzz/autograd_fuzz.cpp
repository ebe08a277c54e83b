// The part of another worker's message about a context of distributed autograd: which of its tensors require a
// gradient, and what they depend on. Any input is refused, or belongs to one context, which is released like any other.
#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/dist_autograd/contexts.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fuzz.hpp"
#include "unit/rpc/session_ranks.hpp"

namespace {

using namespace distrun;
using dist_autograd::Context;
using dist_autograd::Contexts;
using fuzz::require;

constexpr int kPeer = 1;
const rpc::WorkerInfo kPeerInfo("worker1", kPeer);

// An integer tensor cannot require a gradient.
const TensorList& carried() {
  static const TensorList* const all =
      new TensorList{tensor::ones({2}), tensor::zeros({3}, {tensor::DType::I64}), tensor::ones({})};
  return *all;
}

void check_context(const Context& context, bool has_tensors) {
  require(context.known_worker_ids().count(kPeer) == 1, "a context knows the senders of its tensors");
  require(context.send_functions().empty(), "nothing was sent");
  const auto received = context.recv_functions();
  require(received.size() == (has_tensors ? 1 : 0), "a message with tensors is one node");
  for (const auto& [message, node] : received) {
    require(node->message == message && node->from == kPeer, "a node knows its message");
    require(node->inputs().size() == node->places.size(), "each tensor that was taken is an input");
    for (const std::uint32_t place : node->places) require(place < node->count, "places are those of the message");
  }
}

void take(Contexts& contexts, const wire::Bytes& section) {
  const auto arrival = contexts.arrive(kPeerInfo, section, carried(), {});
  bool has_tensors = false;
  for (const Tensor& each : carried()) {
    if (arrival == nullptr) break;
    const Tensor taken = tensor::zeros(each.sizes(), {each.dtype()});
    arrival->take(taken, each);
    has_tensors = has_tensors || (requires_grad(taken) && grad_fn(taken));
  }
  wire::ByteReader reader(wire::view_of(section));
  const auto id = reader.number<std::int64_t>();
  const auto context = contexts.find(id);
  require((context != nullptr) == (id >= 0), "what is of a context makes it known");
  if (context == nullptr) return;
  check_context(*context, has_tensors);
  require(contexts.release(id, kPeer), "a context can be released");
  require(contexts.counts().contexts == 0, "a released context is gone");
  require(contexts.arrive(kPeerInfo, section, carried(), {}) == nullptr, "a released context does not come back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rpc::Ranks* const ranks = [] {
    const auto* const made = new rpc::Ranks(1);
    require(made->run([&](int rank) { rpc::init_rpc(made->options(rank)); }) == rpc::no_errors(1), "a rank can begin");
    return made;
  }();
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  const std::string unforeseen = ranks->error_as(0, [&] {
    Contexts contexts(rpc::find_calls(), 0);
    try {
      take(contexts, wire::Bytes(bytes, bytes + size));
    } catch (const Error&) {
      return;
    }
  });
  require(unforeseen.empty(), "all errors are of known kinds");
  return 0;
}
