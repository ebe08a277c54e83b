#pragma once
// Tells processes that map a rank's slot whether the thread that runs the rank's body is alive. A body can end its
// thread but not its process, by pthread_exit() or a system call filter; then none of distrun's code runs on it, the
// process goes on, and nothing more is reported.
//
// The thread holds a robust mutex as long as it lives. When it ends, however it ends, the kernel marks the mutex. This
// costs the thread nothing, and needs no waiting thread.
#include <linux/futex.h>
#include <pthread.h>

#include <cstddef>

#include <distrun/common/board/layout.hpp>

namespace distrun::board {

class BodyLife {
 public:
  // Called once, by the body's thread. The slot must stay mapped until the thread ends.
  void begin() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&held_, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_lock(&held_);  // never contended
  }
  // Any process. Also true if the whole process has ended.
  bool is_over() const noexcept {
    return (__atomic_load_n(&held_.__data.__lock, __ATOMIC_ACQUIRE) & static_cast<int>(FUTEX_OWNER_DIED)) != 0;
  }

 private:
  pthread_mutex_t held_;
};

// At the end of the slot's last page, after all records.
inline constexpr std::size_t kBodyLifeOffset = kSlotSize - 64;
static_assert(sizeof(BodyLife) <= 64 && sizeof(Slot) <= kBodyLifeOffset);

inline BodyLife& body_life(Slot& slot) noexcept {
  return *reinterpret_cast<BodyLife*>(reinterpret_cast<std::byte*>(&slot) + kBodyLifeOffset);
}
inline const BodyLife& body_life(const Slot& slot) noexcept {
  return *reinterpret_cast<const BodyLife*>(reinterpret_cast<const std::byte*>(&slot) + kBodyLifeOffset);
}

}  // namespace distrun::board
