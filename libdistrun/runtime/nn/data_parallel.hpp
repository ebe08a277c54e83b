#pragma once
// A network that all ranks of a group train together: each rank has a copy and separate data. The copies start equal,
// and gradients are averaged while a backward pass computes them, so the copies stay equal.
//
//   DataParallel net(std::make_shared<Classifier>(), group);
//   nn::SGD optimizer(net.module().parameters(), {.learning_rate = 0.1});
//   for (const auto& [images, labels] : own_part_of_the_data) {
//     net.module().zero_grad();
//     backward(loss(net(images), labels));  // every rank has the averages now
//     optimizer.step();
//   }
//
// The network may take and return anything that its operator() does. Each rank's forward and backward calls are
// collectives: all ranks must make the same calls. Errors of calls are also kept for logging_data().
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/future/tensors_in.hpp>
#include <distrun/runtime/nn/gradient_average.hpp>
#include <distrun/runtime/nn/module.hpp>
#include <distrun/runtime/nn/rebuild.hpp>

namespace distrun::nn {

// Options of DataParallel; the same on all ranks, except for the device.
struct DataParallelOptions {
  BucketSizes buckets{};                // bytes of the gradients that are averaged together
  bool broadcast_buffers = true;        // from the group's first rank, before each forward call
  bool find_unused_parameters = false;  // do not wait for parameters that the outputs do not depend on
  std::optional<Device> device{};       // inputs' tensors are moved there; none: not moved
  std::string name = "DataParallel";    // for logging_data()
};

// Information by name: "world_size", "rank", "backend_name", "iteration", "bucket_sizes", "has_error", "error", and the
// options.
using LoggingData = std::map<std::string, std::string>;

// The part that does not depend on the network's type. Not thread-safe, like the network.
class DataParallelState {
 public:
  // Returns when all ranks have arrived, with the parameters and buffers of the group's first rank. Throws
  // Error{InvalidArgument} if no parameter needs a gradient, or on all ranks if their networks differ.
  DataParallelState(std::shared_ptr<Module> module, std::shared_ptr<collectives::ProcessGroup> group,
                    DataParallelOptions options);

  // Called before a forward call.
  void before_forward();
  // Called after it; `outputs` are the tensors in its result.
  void after_forward(const TensorList& outputs);
  Tensor on_device(const Tensor& input) const;  // moved to the device of the options
  void keep_error(const std::string& text);     // for logging_data()

  const LoggingData& logging_data() const noexcept { return log_; }  // so far
  // Sets whether backward passes average gradients. Returns the former value.
  bool set_averaging(bool on) noexcept { return std::exchange(is_averaging_, on); }

 private:
  bool will_average() const { return is_averaging_ && autograd::is_grad_enabled(); }
  void check_alike() const;
  void broadcast_all(const TensorList& tensors) const;
  void begin_log();

  const std::shared_ptr<Module> module_;
  const std::shared_ptr<collectives::ProcessGroup> group_;
  const DataParallelOptions options_;
  std::shared_ptr<GradientAverage> average_;
  LoggingData log_;
  std::uint64_t iteration_ = 0;
  bool is_averaging_ = true;
};

// A network of the type Net, a Module, with the gradients averaged; see the top of this header. Structs among the
// inputs name their tensors with DISTRUN_FIELDS. Not thread-safe.
template <class Net>
class DataParallel {
 public:
  // Returns when all ranks have arrived, with the parameters and buffers of the group's first rank. Throws
  // Error{InvalidArgument} if no parameter needs a gradient, or on all ranks if their networks differ.
  DataParallel(std::shared_ptr<Net> module, std::shared_ptr<collectives::ProcessGroup> group,
               DataParallelOptions options = {})
      : module_(std::move(module)), state_(module_, std::move(group), std::move(options)) {}

  // Calls the network's operator() with the inputs on the device of the options. A collective of the group.
  template <class... Inputs>
  auto operator()(const Inputs&... inputs) {
    try {
      state_.before_forward();
      const TensorMap map = [this](const Tensor& tensor) { return state_.on_device(tensor); };
      auto outputs = (*module_)(rebuilt(inputs, map)...);
      TensorList tensors;
      future::visit_tensors(outputs, [&](const Tensor& tensor) { tensors.push_back(tensor); });
      state_.after_forward(tensors);
      return outputs;
    } catch (const std::exception& error) {
      state_.keep_error(base::what_of(error));
      throw;
    }
  }

  Net& module() const noexcept { return *module_; }  // the network; valid as long as this
  const LoggingData& logging_data() const noexcept { return state_.logging_data(); }  // so far

  // Stops averaging during a scope: gradients of forward calls accumulate on each rank without waiting. The first
  // backward pass of a forward call outside of the scope averages all accumulated gradients.
  class NoSync {
   public:
    // `of` must outlive it. The destructor restores the former state.
    explicit NoSync(DataParallel& of) noexcept : state_(of.state_), before_(state_.set_averaging(false)) {}
    ~NoSync() { state_.set_averaging(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DataParallelState& state_;
    const bool before_;
  };
  // Returns a scope without averaging.
  [[nodiscard]] NoSync no_sync() noexcept { return NoSync(*this); }

 private:
  const std::shared_ptr<Net> module_;
  DataParallelState state_;
};

}  // namespace distrun::nn
