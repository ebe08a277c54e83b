#pragma once
// Reports of the virtual driver's checking mode: two pieces of work touch the same bytes, one of them writes, and no
// order is defined between them. They are found from the requests, not from the order in which work happened to run.
#include <functional>
#include <string>

#include <distrun/common/base/location.hpp>

namespace distrun::device {

struct OrderReport {
  std::string text;      // both streams, kernels and sites, and the bytes
  base::Location first;  // the work that was put on its stream first
  base::Location second;
};

// Sets the observer, called on the thread that requests the second piece of work, which then continues as usual. Empty:
// prints a line on standard error. Thread-safe; a call in progress uses the former observer.
void tell_order_reports_to(std::function<void(const OrderReport&)> observer);
void tell(const OrderReport& report);

}  // namespace distrun::device
