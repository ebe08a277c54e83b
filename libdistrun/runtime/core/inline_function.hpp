#pragma once
// Inline functions of RPC run on the thread that reads messages. If one waited for another rank, no message would be
// read any more, including the one that it waits for. So each thread records which inline function it runs, and calls,
// collectives, requests to a TCP store and waits for other ranks refuse to begin there.
#include <optional>
#include <string>
#include <string_view>
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

// Returns why the calling thread may not wait for other ranks, as the text of an error; nothing if it runs no inline
// function. `doing` says what the function does: "makes a call".
std::optional<std::string> inline_refusal(std::string_view doing);

// Throws Error{Failed} with that text if there is one.
void refuse_in_inline_function(const char* doing, base::Location site);

}  // namespace distrun::core
