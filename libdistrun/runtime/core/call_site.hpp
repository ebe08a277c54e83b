#pragma once
// Which line of the user's code asked for what happens now. An operator is many calls deep by the time it puts a kernel
// on a stream; reports are to name the line that called the operator.
#include <distrun/common/base/location.hpp>

namespace distrun::core {

// For a scope: work that the thread asks for is at that site. Of nested ones the outermost, the user's own, counts.
class CallSite {
 public:
  explicit CallSite(base::Location site) noexcept;
  ~CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

 private:
  bool outermost_;
};

// The calling thread's; outside of any CallSite `otherwise`.
base::Location call_site(base::Location otherwise) noexcept;

}  // namespace distrun::core
