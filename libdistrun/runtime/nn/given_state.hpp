#pragma once
// A state to be loaded, checked before anything is changed. Collects all missing, misfitting and unexpected names and
// reports them together.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::nn {

// Names that a state lacks, and names that are not expected.
struct StateKeys {
  std::vector<std::string> missing, unexpected;
};

class GivenState {
 public:
  // `state` must outlive this object.
  explicit GivenState(const NamedTensors& state);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  // Marks the name as expected and returns its tensor; null, and noted as missing, if it is absent.
  const Tensor* take(const std::string& name);
  // The same for a tensor to be copied into `target`. Also null if it does not fit, which is noted as a fault.
  const Tensor* take_for(const std::string& name, const Tensor& target);
  void add_fault(std::string text) { faults_.push_back(std::move(text)); }

  // Returns missing names in the order of take(), and unexpected ones in the order of the state.
  StateKeys keys() const;
  // Throws Error{InvalidArgument} with all faults; missing and unexpected names are faults if `strict`. `owner` names
  // the object that the state is loaded into.
  void check(const std::string& owner, bool strict) const;

 private:
  struct Entry {
    const Tensor* tensor = nullptr;
    bool is_taken = false;
  };

  const NamedTensors& state_;
  std::map<std::string_view, Entry> tensors_;
  std::vector<std::string> missing_, faults_;
};

}  // namespace distrun::nn
