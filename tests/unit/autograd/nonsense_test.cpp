// Calls operators with nonsense: undefined or odd tensors, absurd numbers. Each call must end with an Error or with a
// readable result; a sanitizer sees what else happens.
#include <catch2/catch.hpp>

#include <functional>
#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/print.hpp>

#include "support/error_of.hpp"
#include "support/gpus.hpp"

#include "sound_arguments.hpp"

namespace distrun {
namespace {

using Catch::Matchers::Contains;
using namespace test;

constexpr Int kOddIntegers[] = {0, 1, -1, 2, 3, -2, 4, INT64_MAX, INT64_MIN, INT64_MAX / 2 + 1, Int{1} << 61, -5};
const double kOddNumbers[] = {0.5, -0.0, 1e300, -1e300, std::numeric_limits<double>::infinity(), std::nan("")};
const char* const kOddStrings[] = {"",     "float32", "bool", "int64",  "nonsense",
                                   "mean", "sum",     "cpu",  "cuda:1", "cuda:99"};

class Nonsense {
 public:
  explicit Nonsense(std::uint64_t seed) : rng_(seed) {}

  // Returns a sound call's arguments, some of them replaced or changed.
  std::vector<Value> instead_of(const std::vector<Value>& sound, const Overload& overload) {
    std::vector<Value> arguments = sound;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (rng_.below(3) == 0) {
        arguments[i] = value_for(overload.parameters[i]);
      } else if (auto* tensor = std::get_if<Tensor>(&arguments[i])) {
        *tensor = changed(*tensor);
      } else if (auto* list = std::get_if<TensorList>(&arguments[i])) {
        for (Tensor& each : *list) each = changed(each);
      }
    }
    return arguments;
  }

 private:
  Value value_for(Parameter parameter) {
    switch (parameter) {
      case Parameter::Tensor: return tensor();
      case Parameter::OptionalTensor: return is_likely() ? Value(std::monostate()) : Value(tensor());
      case Parameter::Tensors: return several<TensorList>([this] { return tensor(); });
      case Parameter::Number: return number();
      case Parameter::Int: return integer();
      case Parameter::Float: return one_of(kOddNumbers);
      case Parameter::Bool: return is_likely();
      case Parameter::String: return std::string(one_of(kOddStrings));
      case Parameter::Ints: return several<IntList>([this] { return integer(); });
    }
    return std::monostate();
  }

  template <class T, std::size_t kCount>
  T one_of(T const (&values)[kCount]) {
    return values[rng_.below(kCount)];
  }
  template <class List, class Make>
  List several(Make make) {
    List list(rng_.below(5));
    for (auto& each : list) each = make();
    return list;
  }
  bool is_likely() { return rng_.below(2) == 0; }
  Tensor tensor() { return one_of(kOddTensors)(); }
  // Returns a changed tensor, or a clone if that change is impossible.
  Tensor changed(const Tensor& tensor) {
    try {
      return is_likely() ? clone(tensor) : one_of(kChanges)(tensor);
    } catch (const Error&) {
      return clone(tensor);
    }
  }
  // Returns mostly plausible integers.
  Int integer() { return is_likely() ? static_cast<Int>(rng_.below(4)) : one_of(kOddIntegers); }
  Value number() {
    switch (rng_.below(3)) {
      case 0: return is_likely();
      case 1: return integer();
      default: return one_of(kOddNumbers);
    }
  }

  base::Rng rng_;
};

// Reads every element, and passes gradients to the sources of the result.
void look_at(const Tensor& result) {
  tensor::to_string(result);
  if (result.defined() && requires_grad(result) && result.numel() < 1000) backward(result, tensor::ones_like(result));
}
void look_at(const Value& result) {
  if (const auto* one = std::get_if<Tensor>(&result)) look_at(*one);
  if (const auto* several = std::get_if<TensorList>(&result)) {
    for (const Tensor& each : *several) look_at(each);
  }
}

// Returns the error; empty if there was a result, which is then read.
std::string error_of(const Overload& overload, const std::vector<Value>& arguments) {
  Value result;
  try {
    result = overload.run(arguments);
  } catch (const Error& error) {
    return error.what();
  }
  try {
    look_at(result);
  } catch (const Error&) {  // a pass may refuse what an operator accepts
  }
  return {};
}

std::string message_of(const Overload& overload, const std::vector<Value>& arguments) {
  return testing::error_of([&] { overload.run(arguments); }).what();
}

// Returns the name as in errors: "softmax" for "nn::softmax".
std::string short_name(const std::string& name) {
  const std::size_t at = name.rfind(':');
  return at == std::string::npos ? name : name.substr(at + 1);
}

// Returns whether the error comes from the table, before the operator: texts for dtypes and devices, missing devices,
// lists of sizes that are too long.
bool is_of_the_table(const std::string& text) {
  const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
  return has("there is no dtype") || has(" is not a device") || has(" does not exist: ") ||
         has("a tensor has at most ");
}

}  // namespace

TEST_CASE("every operator of the table refuses an undefined tensor where one is needed") {
  testing::use_gpus();
  for_each_overload([](const std::string& name, const autograd::Operator&, const Overload& overload) {
    const std::vector<Value> sound = sound_arguments(name, overload), recorded = recorded_arguments(sound);
    overload.run(sound);
    overload.run(recorded);
    for (std::size_t i = 0; i < overload.parameters.size(); ++i) {
      INFO("parameter " << i);
      std::vector<Value> arguments = recorded;
      switch (overload.parameters[i]) {
        case Parameter::Tensor:
          arguments[i] = Tensor();
          CHECK_THAT(message_of(overload, arguments), Contains("undefined"));
          break;
        case Parameter::Tensors:
          for (const TensorList& list : {TensorList{Tensor(), ones({2, 2})}, TensorList{ones({2, 2}), Tensor()}}) {
            arguments[i] = list;
            CHECK_THAT(message_of(overload, arguments), Contains("undefined"));
          }
          break;
        case Parameter::OptionalTensor:  // like an omitted argument
          arguments[i] = Tensor();
          CHECK(error_of(overload, arguments).empty());
          break;
        default: break;
      }
    }
  });
}

TEST_CASE("operators called with random arguments return a result or an error that names the operator") {
  constexpr int kCalls = 200;
  testing::use_gpus();
  for_each_overload([](const std::string& name, const autograd::Operator&, const Overload& overload) {
    const std::vector<Value> sound = sound_arguments(name, overload);
    Nonsense nonsense(base::derive_seed(1, name + to_string(overload)));
    int results = 0;
    for (int call = 0; call < kCalls; ++call) {
      INFO("call " << call);
      const std::string text = error_of(overload, nonsense.instead_of(sound, overload));
      INFO(text);
      CHECK((text.empty() || is_of_the_table(text) || text.find(short_name(name) + ": ") == 0));
      results += text.empty() ? 1 : 0;
    }
    CHECK(results > 0);  // some calls make sense
  });
  CHECK(tensor::CalledOperator::name() == nullptr);
}

}  // namespace distrun
