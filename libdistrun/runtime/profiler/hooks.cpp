#include <distrun/runtime/profiler/hooks.hpp>

#include <mutex>

#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/profiler/record.hpp>
#include <distrun/runtime/tensor/core/watch.hpp>

namespace distrun::profiler {
namespace {

using autograd::Scope;
using autograd::ScopeHook;
using autograd::ScopeKind;

// Nodes of messages have their own spans, even without a hook.
bool tells_itself(const Scope& scope) noexcept {
  return scope.kind == ScopeKind::Node && scope.name.starts_with("torch::distributed::");
}

std::vector<std::vector<std::int64_t>> shapes_of(const Scope& scope) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Tensor* const input : scope.input_places) {
    shapes.emplace_back();
    if (input->defined()) shapes.back().assign(input->sizes().begin(), input->sizes().end());
  }
  return shapes;
}

// Returns null if no event is recorded.
Record* begin(std::string_view prefix, std::string_view name, const Scope* scope) noexcept {
  const ProfileOptions* const wanted = Record::wanted();
  if (wanted == nullptr) return nullptr;
  try {
    std::string full(prefix);
    auto record = Record::begin(std::move(full.append(name)));
    if (record == nullptr) return nullptr;  // the profile has ended meanwhile, on another thread
    if (scope != nullptr) record->event.sequence = scope->sequence;
    if (scope != nullptr && wanted->record_shapes) record->event.input_shapes = shapes_of(*scope);
    if (wanted->device_time) record->device = DevicePair::begin();
    return record.release();
  } catch (const std::exception&) {
    Record::lose();
    return nullptr;
  }
}

void end(Record* record) noexcept {
  if (record == nullptr) return;
  std::unique_ptr<Record> ended(record);
  if (ended->device != nullptr) ended->device->end();
  Record::end(std::move(ended));
}

// Never destroyed: operators that began under it also end under it.
class Hooks final : public ScopeHook, public tensor::Watcher {
 public:
  void install() {
    next_.store(autograd::set_scope_hook(this));
    tensor::set_watcher(this);
  }
  // A hook that was installed later stays.
  void remove() noexcept {
    tensor::set_watcher(nullptr);
    ScopeHook* const last = autograd::set_scope_hook(next_.load());
    if (last != this) autograd::set_scope_hook(last);
  }

  void* enter(const Scope& scope) noexcept override {
    const bool is_operator = scope.kind == ScopeKind::Operator;
    Record* const record =
        tells_itself(scope) ? nullptr : profiler::begin(is_operator ? "aten::" : "", scope.name, &scope);
    ScopeHook* const next = next_.load();
    if (next == nullptr || next == this) return record;
    return chained(record, *next, scope);
  }
  void leave(void* entered) noexcept override {
    const auto bits = reinterpret_cast<std::uintptr_t>(entered);
    if ((bits & kIsChained) == 0) return profiler::end(static_cast<Record*>(entered));
    const std::unique_ptr<Chained> both(reinterpret_cast<Chained*>(bits - kIsChained));
    both->next.leave(both->entered);
    profiler::end(both->record);
  }

  void* begin(const char* name) noexcept override { return profiler::begin("aten::", name, nullptr); }
  void end(void* begun) noexcept override { profiler::end(static_cast<Record*>(begun)); }
  void change(Device device, std::int64_t bytes) noexcept override {
    MemoryCounts& counts = memory_counts();
    (device.is_cpu() ? counts.cpu : counts.device) += bytes;
  }

 private:
  static constexpr std::uintptr_t kIsChained = 1;  // records and objects of this type have even addresses

  // The results of enter() when an earlier hook exists, too.
  struct Chained {
    Record* record;
    ScopeHook& next;
    void* entered;
  };

  static void* chained(Record* record, ScopeHook& next, const Scope& scope) noexcept {
    auto* const both = new (std::nothrow) Chained{record, next, nullptr};
    if (both == nullptr) return record;
    both->entered = next.enter(scope);
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(both) + kIsChained);
  }

  std::atomic<ScopeHook*> next_{nullptr};
};

struct Used {
  std::mutex mutex;
  Hooks hooks;
  int count = 0;  // guarded by mutex
};
Used& used() {
  static auto* const only = new Used;
  return *only;
}

}  // namespace

void use_hooks() {
  Used& all = used();
  const std::lock_guard lock(all.mutex);
  if (all.count++ == 0) all.hooks.install();
}

void let_go_of_hooks() noexcept {
  Used& all = used();
  const std::lock_guard lock(all.mutex);
  if (--all.count == 0) all.hooks.remove();
}

}  // namespace distrun::profiler
