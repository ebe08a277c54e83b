#include <distrun/runtime/nn/data_parallel.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/collectives/objects.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::nn {
namespace {

// Compared between ranks: each parameter's sizes and dtype.
struct Shape {
  std::vector<std::int64_t> sizes;
  std::string dtype;
  friend bool operator==(const Shape&, const Shape&) = default;
};
DISTRUN_FIELDS(Shape, m.sizes, m.dtype)

using Shapes = std::vector<Shape>;

Shapes shapes_of(const NamedTensors& parameters) {
  Shapes shapes;
  for (const auto& [name, tensor] : parameters) {
    shapes.push_back({{tensor.sizes().begin(), tensor.sizes().end()}, std::string(name_of(tensor.dtype()))});
  }
  return shapes;
}

std::string text_of(const Shape& shape) {
  Dims sizes;
  for (const std::int64_t size : shape.sizes) sizes.push_back(size);
  return device::to_string(sizes) + " of " + shape.dtype;
}

// Returns an empty text if they are equal.
std::string difference(const Shapes& first, const Shapes& other, int rank, const NamedTensors& own) {
  const std::string of_rank = "Rank " + std::to_string(rank);
  if (first.size() != other.size()) {
    return "the ranks have different networks: " + of_rank + " has " + std::to_string(other.size()) +
           " params, while rank 0 has inconsistent " + std::to_string(first.size()) + " params";
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == other[i]) continue;
    const std::string name = i < own.size() ? " (" + own[i].first + ")" : "";
    return "the ranks have different networks: of " + of_rank + " params[" + std::to_string(i) + "]" + name +
           " in this process with sizes " + text_of(other[i]) +
           " appears not to match sizes of the same param in process 0, " + text_of(first[i]);
  }
  return "";
}

NamedTensors trained(const Module& module) {
  NamedTensors all;
  for (auto& [name, tensor] : module.named_parameters()) {
    if (autograd::requires_grad(tensor)) all.emplace_back(name, tensor);
  }
  return all;
}

template <class Values, class Text>
std::string list_of(const Values& values, const Text& text) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ", ") + text(value);
  return list;
}

}  // namespace

DataParallelState::DataParallelState(std::shared_ptr<Module> module, std::shared_ptr<collectives::ProcessGroup> group,
                                     DataParallelOptions options)
    : module_(std::move(module)), group_(std::move(group)), options_(std::move(options)) {
  NamedTensors parameters = trained(*module_);
  if (parameters.empty()) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "DataParallel: no parameter of the module needs a gradient");
  }
  check_alike();
  broadcast_all(module_->parameters());
  broadcast_all(module_->buffers());
  average_ = std::make_shared<GradientAverage>(group_, std::move(parameters), options_.buckets,
                                               options_.find_unused_parameters);
  average_->attach();
  begin_log();
}

void DataParallelState::check_alike() const {
  const NamedTensors own = module_->named_parameters();
  const std::vector<Shapes> all = collectives::all_gather_object(*group_, shapes_of(own));
  for (std::size_t place = 1; place < all.size(); ++place) {
    const std::string text = difference(all.front(), all[place], static_cast<int>(place), own);
    if (!text.empty()) throw Error(ErrorKind::InvalidArgument, "RuntimeError", text);
  }
}

void DataParallelState::broadcast_all(const TensorList& tensors) const {
  for (const Tensor& tensor : tensors) group_->broadcast(autograd::detach(tensor));
}

void DataParallelState::begin_log() {
  const TensorList parameters = module_->parameters();
  std::size_t bytes = 0;
  for (const Tensor& each : parameters) bytes += static_cast<std::size_t>(each.numel()) * size_of(each.dtype());
  const auto flag = [](bool on) { return on ? "1" : "0"; };
  log_ = {{"module_name", options_.name},
          {"world_size", std::to_string(group_->size())},
          {"rank", std::to_string(group_->rank())},
          {"backend_name", group_->backend()},
          {"num_parameter_tensors", std::to_string(parameters.size())},
          {"total_parameter_size_bytes", std::to_string(bytes)},
          {"bucket_cap_bytes", std::to_string(options_.buckets.bytes)},
          {"bucket_sizes", list_of(average_->bucket_bytes(), [](std::size_t size) { return std::to_string(size); })},
          {"broadcast_buffers", flag(options_.broadcast_buffers)},
          {"find_unused_parameters", flag(options_.find_unused_parameters)},
          {"iteration", "0"},
          {"has_error", "0"},
          {"error", ""}};
}

void DataParallelState::before_forward() {
  if (!will_average()) return;
  log_["iteration"] = std::to_string(++iteration_);
  // Reports an unfinished round before other ranks wait for this rank's buffers.
  average_->refuse_if_unfinished();
  if (options_.broadcast_buffers) broadcast_all(module_->buffers());
}

void DataParallelState::after_forward(const TensorList& outputs) {
  if (will_average()) average_->prepare(outputs);
}

Tensor DataParallelState::on_device(const Tensor& input) const {
  return options_.device ? tensor::to(input, *options_.device) : input;
}

void DataParallelState::keep_error(const std::string& text) {
  log_["has_error"] = "1";
  log_["error"] = text;
}

}  // namespace distrun::nn
