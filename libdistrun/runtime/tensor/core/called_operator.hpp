#pragma once
// The operator that the user called, for error texts: an error in mse_loss() must name mse_loss, not the sub() that it
// uses internally and that the program may call elsewhere too.
#include <string>

namespace distrun::tensor {

// While an object lives, its operator runs on this thread; of nested ones the outermost was called by the user. Costs a
// load and a store. `name` must live as long.
class CalledOperator {
 public:
  explicit CalledOperator(const char* name) noexcept : at_(current_), before_(at_) {
    if (before_ == nullptr) at_ = name;
  }
  ~CalledOperator() { at_ = before_; }
  CalledOperator(const CalledOperator&) = delete;
  CalledOperator& operator=(const CalledOperator&) = delete;

  static const char* name() noexcept { return current_; }  // null: no operator is running

 private:
  static constinit inline thread_local const char* current_ = nullptr;

  const char*& at_;  // this thread's slot
  const char* const before_;
};

// Returns "op: text" with the name of the called operator, or with `op` if none is known; `text` alone without either.
std::string with_name(const char* op, const std::string& text);
// Throws Error{InvalidArgument} with that text. For checks without an operator's name, such as access to elements.
[[noreturn]] void refuse(const std::string& text);

}  // namespace distrun::tensor
