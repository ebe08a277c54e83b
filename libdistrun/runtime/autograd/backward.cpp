#include <distrun/runtime/autograd/backward.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/gradient_fit.hpp>
#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::autograd {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "RuntimeError", text); }

Tensor gradient_of_root(const Tensor& root, const TensorList& gradients, std::size_t number) {
  const Tensor given = number < gradients.size() ? gradients[number] : Tensor();
  if (!given.defined()) {
    if (root.numel() != 1) refuse("grad can be implicitly created only for scalar outputs");
    return tensor::ones_like(root);
  }
  if (given.sizes() != root.sizes()) {
    refuse("Mismatch in shape: grad_output[" + std::to_string(number) + "] has a shape of " +
           device::to_string(given.sizes()) + " and output[" + std::to_string(number) + "] has a shape of " +
           device::to_string(root.sizes()) + ".");
  }
  return converted(given, root.options());
}

void add_roots(GraphTask& task, const TensorList& roots, const TensorList& gradients) {
  if (roots.empty()) refuse("No tensors provided for gradient computation.");
  if (!gradients.empty() && gradients.size() != roots.size()) {
    refuse("got " + std::to_string(roots.size()) + " tensors and " + std::to_string(gradients.size()) + " gradients");
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::string element = "element " + std::to_string(i) + " of tensors ";
    if (!roots[i].defined()) refuse(element + "is undefined");
    Edge edge = gradient_edge(roots[i]);
    if (!edge) refuse(element + "does not require grad and does not have a grad_fn");
    task.add_root(std::move(edge), gradient_of_root(roots[i], gradients, i));
  }
}

Ref<GraphTask> make_task(const BackwardOptions& options) {
  return tensor::make_ref<GraphTask>(
      PassOptions{.retain_graph = options.retain_graph || options.create_graph, .create_graph = options.create_graph});
}

}  // namespace

void backward(const TensorList& roots, const TensorList& gradients, BackwardOptions options) {
  const Ref<GraphTask> task = make_task(options);
  const GradModeGuard mode(options.create_graph);
  add_roots(*task, roots, gradients);
  task->run();
}

void backward(const Tensor& root, const Tensor& gradient, BackwardOptions options) {
  backward(TensorList{root}, TensorList{gradient}, options);
}

TensorList gradients(const TensorList& outputs, const TensorList& inputs, const TensorList& output_gradients,
                     BackwardOptions options, bool allow_unused) {
  if (inputs.empty()) refuse("no inputs are given");
  const Ref<GraphTask> task = make_task(options);
  const GradModeGuard mode(options.create_graph);
  add_roots(*task, outputs, output_gradients);
  for (const Tensor& input : inputs) {
    const Edge edge = gradient_edge(input);
    if (!edge) refuse("One of the differentiated Tensors does not require grad");
    task->capture(edge);
  }
  task->run();
  TensorList results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    results.push_back(task->captured(i));
    if (!results.back().defined() && !allow_unused) {
      refuse(
          "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused to get an "
          "undefined gradient for it");
    }
  }
  return results;
}

void at_end_of_pass(std::function<void()> callback) {
  GraphTask* const pass = GraphTask::current();
  if (!callback) throw Error(ErrorKind::InvalidArgument, "at_end_of_pass: the callback is empty");
  if (pass == nullptr) throw Error(ErrorKind::Failed, "at_end_of_pass: the calling thread is not in a backward pass");
  pass->at_end(std::move(callback));
}

}  // namespace distrun::autograd
