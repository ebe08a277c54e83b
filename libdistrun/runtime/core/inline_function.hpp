#pragma once
// Inline functions of RPC run on the thread that reads messages. If one waited for another rank, no message would be
// read any more, including the one that it waits for. So each thread records which inline function it runs, and calls,
// collectives and waits for other ranks refuse to begin there.
#include <string>
#include <utility>

#include <distrun/common/base/location.hpp>

namespace distrun::core {

// Returns the name of the inline function that the calling thread runs; null: none.
const std::string*& inline_function() noexcept;

// Scope guard. While it lives, the calling thread runs the inline function `name`, which must outlive it. Null: none.
class InlineFunctionScope {
 public:
  explicit InlineFunctionScope(const std::string* name) noexcept : before_(std::exchange(inline_function(), name)) {}
  ~InlineFunctionScope() { inline_function() = before_; }
  InlineFunctionScope(const InlineFunctionScope&) = delete;
  InlineFunctionScope& operator=(const InlineFunctionScope&) = delete;

 private:
  const std::string* const before_;
};

// Throws Error{Failed} if the calling thread runs an inline function; `doing` is the verb of the text: "makes a call".
void refuse_in_inline_function(const char* doing, base::Location site);

}  // namespace distrun::core
