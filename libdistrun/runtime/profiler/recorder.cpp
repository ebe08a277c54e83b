#include <distrun/runtime/profiler/recorder.hpp>

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/profiler/hooks.hpp>
#include <distrun/runtime/profiler/node.hpp>
#include <distrun/runtime/profiler/record.hpp>
#include <distrun/runtime/profiler/tree.hpp>

namespace distrun::profiler {
namespace {

// Returns null if the thread has no profile in which events may begin.
const Recorder* of_thread() noexcept {
  const auto* const recorder = static_cast<const Recorder*>(core::thread_state().profiler.get());
  return recorder != nullptr && recorder->is_open() ? recorder : nullptr;
}

std::int32_t thread_number() noexcept {
  static thread_local const std::int32_t number = ::gettid();
  return number;
}

}  // namespace

Recorder::Recorder(const ProfileOptions& options, std::int32_t node) : options_(options), node_(node) {
  look_for_node();
  use_hooks();
}

Recorder::~Recorder() { close(); }

// RPC may begin after the profile, and end before the events are read.
void Recorder::look_for_node() const noexcept {
  if (node_.load(std::memory_order_relaxed) == kOwnNode) node_.store(node_of_rank(), std::memory_order_relaxed);
}

void Recorder::close() const noexcept {
  if (!is_open_.exchange(false)) return;
  look_for_node();
  let_go_of_hooks();
}

void Recorder::add(std::unique_ptr<Record> record) const noexcept {
  const std::lock_guard lock(mutex_);
  if (records_.size() >= options_.limit) return void(++not_kept_);
  try {
    records_.push_back(std::move(record));
  } catch (const std::bad_alloc&) {
    ++not_kept_;
  }
}

void Recorder::lose(std::uint64_t count) const noexcept {
  const std::lock_guard lock(mutex_);
  not_kept_ += count;
}

Events Recorder::events() const {
  look_for_node();
  Events events;
  {
    const std::lock_guard lock(mutex_);
    std::sort(records_.begin(), records_.end(), [](const auto& a, const auto& b) {
      return std::pair(a->event.begin, a->order) < std::pair(b->event.begin, b->order);
    });
    events.reserve(records_.size());
    for (const auto& each : records_) {
      if (each->device != nullptr) std::exchange(each->device, nullptr)->tell(each->event);
      if (each->event.node == kOwnNode) each->event.node = node_.load(std::memory_order_relaxed);
      events.push_back(each->event);
    }
  }
  build_tree(events);
  return events;
}

std::uint64_t Recorder::not_kept() const {
  const std::lock_guard lock(mutex_);
  return not_kept_;
}

const ProfileOptions* Record::wanted() noexcept {
  const Recorder* const recorder = of_thread();
  return recorder == nullptr ? nullptr : &recorder->options();
}

void Record::lose() noexcept {
  if (const Recorder* const recorder = of_thread()) recorder->lose(1);
}

std::unique_ptr<Record> Record::begin(std::string name) {
  const Recorder* const recorder = of_thread();
  if (recorder == nullptr) return nullptr;
  auto record = std::make_unique<Record>();
  record->recorder = std::static_pointer_cast<const Recorder>(core::thread_state().profiler);
  record->order = recorder->next_order();
  record->event.name = std::move(name);
  record->event.thread = thread_number();
  if (recorder->options().profile_memory) record->memory = memory_counts();
  record->event.begin = base::system_clock().now();
  return record;
}

// Counts are per thread: the memory of an event that ends on another thread is unknown.
base::TimePoint Record::end(std::unique_ptr<Record> record) noexcept {
  Event& event = record->event;
  const base::TimePoint now = event.end = base::system_clock().now();
  const bool is_elsewhere = event.thread != thread_number();
  if (is_elsewhere && !record->is_waited_for) event.is_async = true;
  const auto recorder = std::exchange(record->recorder, nullptr);
  if (recorder->options().profile_memory && !is_elsewhere) {
    event.cpu_memory = memory_counts().cpu - record->memory.cpu;
    event.device_memory = memory_counts().device - record->memory.device;
  }
  recorder->add(std::move(record));
  return now;
}

}  // namespace distrun::profiler
