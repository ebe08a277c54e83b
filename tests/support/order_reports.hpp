#pragma once
// What the check of stream order finds while it lives, on any thread.
#include <mutex>
#include <string>

#include <distrun/runtime/device/order_report.hpp>

#include "gpus.hpp"

namespace distrun::testing {

class OrderReports {
 public:
  OrderReports() {
    use_gpus();
    device::tell_order_reports_to([this](const device::OrderReport& report) {
      const std::lock_guard lock(mutex_);
      text_ += report.text + "\n";
    });
  }
  ~OrderReports() { device::tell_order_reports_to({}); }
  OrderReports(const OrderReports&) = delete;
  OrderReports& operator=(const OrderReports&) = delete;

  // A line each; empty: none.
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace distrun::testing
