#include <distrun/runtime/device/order_report.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace distrun::device {
namespace {

using Observer = std::function<void(const OrderReport&)>;

struct Audience {
  std::mutex mutex;
  std::shared_ptr<const Observer> observer;  // guarded by mutex
};

Audience& audience() {
  static auto* const only = new Audience;  // never destroyed: work may be requested until the process ends
  return *only;
}

}  // namespace

void tell_order_reports_to(Observer observer) {
  auto fresh = observer ? std::make_shared<const Observer>(std::move(observer)) : nullptr;
  const std::lock_guard lock(audience().mutex);
  audience().observer = std::move(fresh);
}

void tell(const OrderReport& report) {
  std::shared_ptr<const Observer> observer;
  {
    const std::lock_guard lock(audience().mutex);
    observer = audience().observer;
  }
  if (observer != nullptr) return (*observer)(report);
  std::fprintf(stderr, "%s\n", report.text.c_str());
}

}  // namespace distrun::device
