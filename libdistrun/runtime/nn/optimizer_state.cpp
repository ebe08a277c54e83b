// Saves and loads the state of optimizers by name.
#include <algorithm>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/nn/given_state.hpp>
#include <distrun/runtime/nn/optimizer.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::nn {
namespace {

using StateField = Optimizer::StateField;
using StateFields = Optimizer::StateFields;

constexpr const char* kLearningRate = "learning_rate";

std::string name_of(std::size_t number, const StateField& field) { return std::to_string(number) + "." + field.name; }

Tensor* tensor_in(const StateField& field) {
  const auto* tensor = std::get_if<Tensor*>(&field.value);
  return tensor == nullptr ? nullptr : *tensor;
}

Tensor value_of(const StateField& field) {
  if (const Tensor* tensor = tensor_in(field)) return *tensor;
  return tensor::scalar_tensor(*std::get<std::int64_t*>(field.value), {DType::I64});
}

bool is_used(const StateFields& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const StateField& each) {
    const Tensor* const tensor = tensor_in(each);
    return tensor != nullptr && tensor->defined();
  });
}

// Returns a copy with separate elements, on the parameter's device.
Tensor copied_beside(const Tensor& parameter, const Tensor& given) {
  const Tensor copy = tensor::empty(parameter.sizes(), parameter.options());
  tensor::copy_(copy, given);
  return copy;
}

// Returns the number of that name, which must not be negative. Returns nothing if it is missing, or not a number, which
// is a fault.
template <class T>
std::optional<T> take_number(GivenState& given, const std::string& name) {
  const Tensor* const tensor = given.take(name);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->defined() && !tensor->is_sparse() && tensor->numel() == 1) {
    const Scalar number = tensor->item();
    const T value = number.to<T>();
    if (value >= 0 && static_cast<double>(value) == number.to<double>()) return value;
  }
  given.add_fault(name + ": it must be a number" + (std::is_integral_v<T> ? " without a fraction" : "") +
                  ", at least 0.");
  return std::nullopt;
}

// A field and its new value.
struct Load {
  StateField field;
  Tensor copy{};
  std::int64_t number = 0;
};

// Reads the fields of one parameter; a state has all of them or none.
void take_fields(GivenState& given, std::size_t number, const Tensor& parameter, const StateFields& fields,
                 std::vector<Load>& loads) {
  const bool is_there = std::any_of(fields.begin(), fields.end(),
                                    [&](const StateField& each) { return given.has(name_of(number, each)); });
  for (const StateField& each : fields) {
    Load& load = loads.emplace_back(Load{each});
    if (!is_there) continue;
    if (tensor_in(each) != nullptr) {
      const Tensor* const found = given.take_for(name_of(number, each), parameter);
      if (found != nullptr) load.copy = copied_beside(parameter, *found);
    } else {
      load.number = take_number<std::int64_t>(given, name_of(number, each)).value_or(0);
    }
  }
}

void apply(const Load& load) noexcept {
  if (Tensor* const tensor = tensor_in(load.field)) {
    *tensor = load.copy;
  } else {
    *std::get<std::int64_t*>(load.field.value) = load.number;
  }
}

}  // namespace

NamedTensors Optimizer::state_dict() {
  const std::lock_guard lock(stepping_);
  NamedTensors state{{kLearningRate, tensor::scalar_tensor(learning_rate(), {DType::F64})}};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const StateFields fields = state_of(i);
    if (!is_used(fields)) continue;
    for (const StateField& each : fields) state.emplace_back(name_of(i, each), value_of(each));
  }
  return state;
}

void Optimizer::load_state_dict(const NamedTensors& state) {
  const std::lock_guard lock(stepping_);
  GivenState given(state);
  const std::optional<double> rate = take_number<double>(given, kLearningRate);
  std::vector<Load> loads;
  for (std::size_t i = 0; i < parameters_.size(); ++i) take_fields(given, i, parameters_[i], state_of(i), loads);
  given.check(std::string("the optimizer ") + name_, true);
  learning_rate_.store(*rate, std::memory_order_relaxed);
  for (const Load& each : loads) apply(each);
}

}  // namespace distrun::nn
