// The section Autograd of a message: the context's data that calls carry.
#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/dist_autograd/contexts.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>

namespace distrun::dist_autograd {
namespace {

// Limit of an answer's search for its dependencies: searching costs every answer, asking costs a pass a round trip.
constexpr std::size_t kNodesLookedAt = 32;

struct OriginRecord {
  WorkerId from = -1;
  MessageId message = -1;
};
DISTRUN_FIELDS(OriginRecord, m.from, m.message)

// The context is first because rpc reads it, too.
struct AutogradSection {
  ContextId context = rpc::kNoContext;
  MessageId message = -1;
  std::vector<std::uint32_t> places;  // of the tensors that require a gradient, among the message's
  bool knows_origins = false;
  std::vector<OriginRecord> origins;
};
DISTRUN_FIELDS(AutogradSection, m.context, m.message, m.places, m.knows_origins, m.origins)

const Tensor& carried_for(const Tensor& tensor) { return tensor.is_sparse() ? tensor::sparse(tensor).values : tensor; }

std::uint32_t place_of(const Tensor& tensor, const TensorList& carried) {
  const Tensor& own = carried_for(tensor);
  const auto found =
      std::find_if(carried.begin(), carried.end(), [&](const Tensor& each) { return each.is_same(own); });
  if (found == carried.end()) throw Error(ErrorKind::Failed, "a tensor that was written is missing in its message");
  return static_cast<std::uint32_t>(found - carried.begin());
}

// Collects the messages of the context that a node depends on, if few nodes lead to them.
class Origins {
 public:
  explicit Origins(const Context& context) : context_(context) {}

  // Returns false if the search would take too long, or the node depends on something outside the context.
  bool find(const Node& start) {
    std::vector<const Node*> pending{&start};
    while (!pending.empty()) {
      const Node* const node = pending.back();
      pending.pop_back();
      if (std::find(seen_.begin(), seen_.end(), node) != seen_.end()) continue;
      if (seen_.size() == kNodesLookedAt) return false;
      seen_.push_back(node);
      if (const auto* const received = dynamic_cast<const RecvNode*>(node)) {
        if (received->context.lock().get() != &context_) return false;
        found.push_back({received->from, received->message});
      }
      for (const autograd::Edge& edge : node->next_edges()) {
        if (edge) pending.push_back(edge.node.get());
      }
    }
    return true;
  }

  std::vector<OriginRecord> found;

 private:
  const Context& context_;
  std::vector<const Node*> seen_;
};

// Short: the board has some sixty characters for the target of a wait.
std::string what_of(const rpc::Departure& departure) {
  const std::string call = std::string(departure.callee) + "()";
  if (departure.is_answer) return "the result of " + call;
  const std::string file = departure.site.file;
  return file.empty() ? call
                      : call + " at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(departure.site.line);
}

rpc::Section section_of(const AutogradSection& section) { return {rpc::SectionTag::Autograd, wire::encode(section)}; }

// Without a context, sends at least which leaves require a gradient.
std::optional<rpc::Departed> depart_without_context(const rpc::Departure& departure) {
  AutogradSection section;
  for (const Tensor& each : departure.tensors) {
    if (autograd::is_leaf(each)) section.places.push_back(place_of(each, departure.carried));
  }
  if (section.places.empty()) return std::nullopt;
  return rpc::Departed{section_of(section)};
}

class RequireGradient final : public rpc::Arrival {
 public:
  explicit RequireGradient(TensorList carried) : carried_(std::move(carried)) {}
  void take(const Tensor& tensor, const Tensor& carried) override {
    const auto is_it = [&](const Tensor& each) { return each.is_same(carried); };
    if (std::any_of(carried_.begin(), carried_.end(), is_it)) autograd::set_requires_grad(tensor);
  }

 private:
  const TensorList carried_;
};

class Receiving final : public rpc::Arrival {
 public:
  Receiving(std::shared_ptr<Context> context, Ref<RecvNode> node, TensorList carried)
      : context_(std::move(context)), node_(std::move(node)), carried_(std::move(carried)) {}

  void take(const Tensor& tensor, const Tensor& carried) override {
    for (std::uint32_t place = 0; place < carried_.size(); ++place) {
      if (!carried_[place].is_same(carried)) continue;
      if (std::find(node_->places.begin(), node_->places.end(), place) != node_->places.end()) return;
      node_->places.push_back(place);
      autograd::with_history(tensor, node_);
      if (node_->places.size() == 1) context_->add_recv(node_);
      return;
    }
  }

 private:
  const std::shared_ptr<Context> context_;
  const Ref<RecvNode> node_;
  const TensorList carried_;
};

TensorList carried_at(const std::vector<std::uint32_t>& places, const TensorList& carried) {
  TensorList tensors;
  for (const std::uint32_t place : places) {
#ifndef DISTRUN_FUZZ_PLANTED_BUG
    if (place >= carried.size() || !tensor::is_floating(carried[place].dtype())) {
      throw Error(ErrorKind::InvalidArgument, "a message says that its tensor " + std::to_string(place) +
                                                  " requires a gradient, but none was sent");
    }
#endif
    tensors.push_back(carried[place]);
  }
  return tensors;
}

}  // namespace

std::optional<rpc::Departed> Contexts::depart(const rpc::Departure& departure) {
  const auto context = departure.context == rpc::kNoContext ? nullptr : find(departure.context);
  if (context == nullptr) return depart_without_context(departure);
  context->add_known_worker(departure.to);
  AutogradSection section;
  section.context = context->context_id();
  if (departure.tensors.empty()) return rpc::Departed{section_of(section)};
  section.message = base_ | next_message_.fetch_add(1);
  auto node = tensor::make_ref<SendNode>(section.message, departure.to.id, what_of(departure));
  Origins origins(*context);
  section.knows_origins = departure.is_answer;
  for (const Tensor& each : departure.tensors) {
    section.places.push_back(place_of(each, departure.carried));
    autograd::Edge edge = autograd::gradient_edge(each);
    section.knows_origins = section.knows_origins && origins.find(*edge.node);
    node->add_next_edge(std::move(edge));
    node->add_input(each);
  }
  if (section.knows_origins) section.origins = std::move(origins.found);
  context->add_send(node);
  return rpc::Departed{section_of(section), section.context, section.message};
}

void Contexts::withdraw(std::int64_t context, std::int64_t message) noexcept {
  if (const auto known = find(context)) known->remove_send(message);
}

std::unique_ptr<rpc::Arrival> Contexts::arrive(const WorkerInfo& from, const wire::Bytes& bytes,
                                               const TensorList& carried, const rpc::DeviceMap& back) {
  const auto section = wire::decode<AutogradSection>(wire::view_of(bytes));
  if (section.context < 0) return std::make_unique<RequireGradient>(carried_at(section.places, carried));
  auto context = find_or_add(section.context);
  if (context == nullptr) return nullptr;
  context->add_known_worker(from.key());
  if (section.places.empty()) return nullptr;
  auto node = tensor::make_ref<RecvNode>(context, section.message, from.id());
  node->devices = back;
  node->count = static_cast<std::uint32_t>(section.places.size());
  if (section.knows_origins) {
    node->depends_on.emplace();
    for (const auto& [worker, message] : section.origins) node->depends_on->push_back({worker, message});
  }
  return std::make_unique<Receiving>(std::move(context), std::move(node), carried_at(section.places, carried));
}

}  // namespace distrun::dist_autograd
