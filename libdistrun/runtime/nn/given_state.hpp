#pragma once
// A state that is to be loaded, looked through before anything is changed: what is there, what is missing, what does
// not fit and what nobody knows. All of it is told at once.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::nn {

// What a state lacks, and what it has too much.
struct StateKeys {
  std::vector<std::string> missing, unexpected;
};

class GivenState {
 public:
  // The state lives on.
  explicit GivenState(const NamedTensors& state);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  // The tensor of that name, which is expected from now on. Null, and missing, if there is none.
  const Tensor* take(const std::string& name);
  // The same for what is copied into `target`. Null also for what does not go into it: that is a fault.
  const Tensor* take_for(const std::string& name, const Tensor& target);
  void add_fault(std::string text) { faults_.push_back(std::move(text)); }

  // In the order in which they were asked for, and in that of the state.
  StateKeys keys() const;
  // Throws Error{InvalidArgument} with all that is wrong; names that are missing or unexpected are so if `strict`.
  // `owner` is what the state was to be loaded into.
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
