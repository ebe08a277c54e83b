#pragma once
// Kinds of objects that threads wait for.
#include <distrun/common/wire/stacks.hpp>

namespace distrun::wire {

// Returns whether it has an owner that must release it.
inline bool is_lock(WaitObject object) noexcept {
  switch (object) {
    case WaitObject::Mutex:
    case WaitObject::SharedMutex:
    case WaitObject::ReadWriteLock:
    case WaitObject::StaticGuard:
    case WaitObject::LoaderLock:
    case WaitObject::HeapLock:
    case WaitObject::FileLock: return true;
    default: return false;
  }
}

}  // namespace distrun::wire
