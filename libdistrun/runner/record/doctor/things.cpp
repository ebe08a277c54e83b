#include <distrun/runner/record/doctor/things.hpp>

#include <array>

namespace distrun::runner::doctor {

ThingKind kind_of(board::WaitKind kind) noexcept {
  switch (kind) {
    case board::WaitKind::Barrier: return ThingKind::Barrier;
    case board::WaitKind::Receive: return ThingKind::Receive;
    case board::WaitKind::Send: return ThingKind::Send;
    case board::WaitKind::RpcReply: return ThingKind::RpcReply;
    case board::WaitKind::Future: return ThingKind::Future;
    case board::WaitKind::RrefConfirmation: return ThingKind::RrefConfirmation;
    case board::WaitKind::Collective: return ThingKind::Collective;
    case board::WaitKind::StoreGet: return ThingKind::StoreKey;
    case board::WaitKind::PoolSlot: return ThingKind::PoolSlot;
    case board::WaitKind::Backward: return ThingKind::Gradient;
    case board::WaitKind::Stream: return ThingKind::Stream;
    case board::WaitKind::Event: return ThingKind::Event;
    case board::WaitKind::Custom:
    case board::WaitKind::Handler: return ThingKind::Custom;
  }
  return ThingKind::Custom;
}

// The numbers come from the probe and may be any.
ThingKind kind_of(wire::WaitObject object) noexcept {
  using enum ThingKind;
  static constexpr std::array<ThingKind, wire::kWaitObjectCount> kKinds = {
      Other,       Other,         Mutex,    SharedMutex, ReadWriteLock, ConditionVariable,
      Semaphore,   ThreadBarrier, Latch,    Future,      AtomicWait,    ThreadEnd,
      StaticGuard, LoaderLock,    HeapLock, FileLock,    Pipe,          Socket,
      Listener,    Child,         Process,  Signal,      Timer,         Events,
      Device,      Library,       Other};
  const auto index = static_cast<std::size_t>(object);
  return index < kKinds.size() ? kKinds[index] : Other;
}

const char* noun_of(ThingKind kind) noexcept {
  static constexpr std::array kNouns = {"mutex",
                                        "process-shared mutex",
                                        "read-write lock",
                                        "condition variable",
                                        "semaphore",
                                        "barrier of threads",
                                        "latch",
                                        "future",
                                        "atomic variable",
                                        "end of a thread",
                                        "initialisation of a static variable",
                                        "lock of the dynamic loader",
                                        "lock of the heap",
                                        "file lock",
                                        "pipe",
                                        "socket",
                                        "connection",
                                        "child",
                                        "process",
                                        "signal",
                                        "timer",
                                        "event on several descriptors",
                                        "device",
                                        "communication library",
                                        "barrier",
                                        "collective",
                                        "message",
                                        "receiver",
                                        "RPC reply",
                                        "RRef confirmation",
                                        "store key",
                                        "handler pool",
                                        "gradient",
                                        "stream",
                                        "event",
                                        "custom wait",
                                        "system call"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNouns.size() ? kNouns[index] : "?";
}

bool is_lock(ThingKind kind) noexcept {
  switch (kind) {
    case ThingKind::Mutex:
    case ThingKind::SharedMutex:
    case ThingKind::ReadWriteLock:
    case ThingKind::StaticGuard:
    case ThingKind::LoaderLock:
    case ThingKind::HeapLock:
    case ThingKind::FileLock: return true;
    default: return false;
  }
}

bool is_meeting(ThingKind kind) noexcept { return kind == ThingKind::Barrier || kind == ThingKind::Collective; }

bool is_signal(ThingKind kind) noexcept {
  switch (kind) {
    case ThingKind::ConditionVariable:
    case ThingKind::Semaphore:
    case ThingKind::ThreadBarrier:
    case ThingKind::Latch:
    case ThingKind::Future:
    case ThingKind::AtomicWait: return true;
    default: return false;
  }
}

bool is_channel(ThingKind kind) noexcept {
  return kind == ThingKind::Pipe || kind == ThingKind::Socket || kind == ThingKind::Listener;
}

bool is_device(ThingKind kind) noexcept {
  return kind == ThingKind::Device || kind == ThingKind::Stream || kind == ThingKind::Event;
}

std::size_t Things::add(ThingKind kind, std::string name, const std::string& key) {
  const std::size_t index = graph_.things.size();
  if (!key.empty()) {
    const auto [known, is_new] = by_key_.try_emplace(key, index);
    if (!is_new) return known->second;
  }
  if (name.empty()) name = noun_of(kind);
  graph_.things.push_back({kind, std::move(name), key});
  return index;
}

}  // namespace distrun::runner::doctor
