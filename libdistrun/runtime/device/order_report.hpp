#pragma once
// What the virtual driver's checking mode finds: two pieces of work that touch the same bytes, one of them writing, and
// nothing says which comes first. It is found by what was asked for, not by what happened to run when.
#include <functional>
#include <string>

#include <distrun/common/base/location.hpp>

namespace distrun::device {

struct OrderReport {
  std::string text;      // both streams, kernels and sites, and the bytes
  base::Location first;  // what was put on its stream first
  base::Location second;
};

// Who is told, on the thread that asks for the second piece of work, which goes on as if nothing were wrong. Empty: a
// line on standard error. Any thread; a call that is under way still uses the one before.
void tell_order_reports_to(std::function<void(const OrderReport&)> observer);
void tell(const OrderReport& report);

}  // namespace distrun::device
