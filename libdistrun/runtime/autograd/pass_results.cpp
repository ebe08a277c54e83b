#include <distrun/runtime/autograd/pass_results.hpp>

#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/gradient_streams.hpp>

namespace distrun::autograd {

std::size_t PassResults::capture(const Edge& edge) {
  captures_.push_back({edge, Tensor()});
  return captures_.size() - 1;
}

void PassResults::mark_captured(PassTable& table) const {
  for (const Capture& capture : captures_) {
    if (const EntryIndex entry = table.find(capture.edge.node.get()); entry != PassTable::kNone) {
      table[entry].is_captured = true;
    }
  }
}

void PassResults::take(const PassEntry& entry, const Gradients& gradients) {
  for (Capture& capture : captures_) {
    if (capture.edge.node.get() == entry.node) capture.gradient = gradients[capture.edge.input];
  }
  if (entry.node->is_on_gpu()) streams_.insert(entry.node->stream());
}

void PassResults::note_leaf(const Node& leaf) {
  if (leaf.is_on_gpu()) streams_.insert(leaf.stream());
}

void PassResults::wait(PassTable& table, bool has_grads) const {
  if (streams_.empty()) return;
  for (const device::Stream stream : streams_) wait_for_stream(stream);
  // The caller may read the gradients on its streams, and release them.
  for (const Capture& capture : captures_) record_reader(capture.gradient);
  for (EntryIndex i = 0; i < table.size() && has_grads; ++i) {
    Node& node = *table[i].node;
    if (node.is_leaf() && node.is_on_gpu()) static_cast<AccumulateGrad&>(node).record_reader();
  }
}

}  // namespace distrun::autograd
