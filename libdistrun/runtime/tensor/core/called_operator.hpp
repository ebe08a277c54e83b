#pragma once
// The operator that a user has called, for the texts of errors: whoever calls mse_loss() is to read of mse_loss, and
// not of the sub() that it is made of, which the program may have in other places too.
#include <string>

namespace distrun::tensor {

// While one lives, its operator is at work on this thread; of those within each other the outermost was called. Costs a
// load and a store. `name` must live as long.
class CalledOperator {
 public:
  explicit CalledOperator(const char* name) noexcept : at_(current_), before_(at_) {
    if (before_ == nullptr) at_ = name;
  }
  ~CalledOperator() { at_ = before_; }
  CalledOperator(const CalledOperator&) = delete;
  CalledOperator& operator=(const CalledOperator&) = delete;

  static const char* name() noexcept { return current_; }  // null: none is at work

 private:
  static constinit inline thread_local const char* current_ = nullptr;

  const char*& at_;  // of this thread
  const char* const before_;
};

// "op: text" with the name of the operator that was called, or `op` if none is known; the text alone without either.
std::string with_name(const char* op, const std::string& text);
// Throws it as Error{InvalidArgument}: for what has no name of its own, as all that needs elements of a tensor.
[[noreturn]] void refuse(const std::string& text);

}  // namespace distrun::tensor
