#pragma once
// Whether the thread that runs a rank's body lives, for whoever maps the rank's slot. A body can end its thread and not
// its process, by pthread_exit() or by a filter of system calls; nothing of ours runs then, the process goes on, and
// all that it would ever have told is lost.
//
// The thread holds a robust mutex for as long as it is there. Of a thread that ends with one the kernel itself writes
// so into the mutex, however it ends. That costs the thread nothing, and needs nobody who waits.
#include <linux/futex.h>
#include <pthread.h>

#include <cstddef>

#include <distrun/common/board/layout.hpp>

namespace distrun::board {

class BodyLife {
 public:
  // Once, by the thread. The slot must stay mapped until it ends.
  void begin() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&held_, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_lock(&held_);  // nobody else ever takes it
  }
  // Any process. Also true when the whole process has ended.
  bool is_over() const noexcept {
    return (__atomic_load_n(&held_.__data.__lock, __ATOMIC_ACQUIRE) & static_cast<int>(FUTEX_OWNER_DIED)) != 0;
  }

 private:
  pthread_mutex_t held_;
};

// It stands at the end of the slot's last page, behind all records.
inline constexpr std::size_t kBodyLifeOffset = kSlotSize - 64;
static_assert(sizeof(BodyLife) <= 64 && sizeof(Slot) <= kBodyLifeOffset);

inline BodyLife& body_life(Slot& slot) noexcept {
  return *reinterpret_cast<BodyLife*>(reinterpret_cast<std::byte*>(&slot) + kBodyLifeOffset);
}
inline const BodyLife& body_life(const Slot& slot) noexcept {
  return *reinterpret_cast<const BodyLife*>(reinterpret_cast<const std::byte*>(&slot) + kBodyLifeOffset);
}

}  // namespace distrun::board
