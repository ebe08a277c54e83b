#pragma once
// Collects the reports of the stream-order check during its lifetime, from any thread.
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

  // Returns one report per line; empty without reports.
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace distrun::testing
