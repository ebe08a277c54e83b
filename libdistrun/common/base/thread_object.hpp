#pragma once
// An object of each thread, created at its first use and destroyed when the thread ends. A `thread_local` with a
// destructor allocates memory to register it, and glibc aborts the process if there is none. This one registers a
// pthread key instead: glibc keeps room for 32 of them in each thread.
//
// The objects of the main thread are not destroyed. Neither are those of a thread for which a key beyond the first 32
// could not be registered: what they own leaks then. The library or program that contains the instantiation must stay
// loaded while threads use it.
#include <pthread.h>

#include <new>
#include <type_traits>

namespace distrun::base {

// The calling thread's object of a type that is used for this alone.
template <class T>
class ThreadObject {
  static_assert(std::is_nothrow_default_constructible_v<T>);

 public:
  // The reference is valid until the thread ends.
  static T& get() noexcept {
    Slot& slot = slot_;
    if (!slot.is_alive) create(slot);
    return *slot.object();
  }

 private:
  struct Slot {
    alignas(T) unsigned char memory[sizeof(T)];
    bool is_alive;

    T* object() noexcept { return std::launder(reinterpret_cast<T*>(memory)); }
  };

  struct Key {
    pthread_key_t value{};
    bool is_valid = ::pthread_key_create(&value, &destroy) == 0;
  };

  [[gnu::noinline]] static void create(Slot& slot) noexcept {
    static const Key key;
    ::new (slot.memory) T();
    slot.is_alive = true;
    if (key.is_valid) ::pthread_setspecific(key.value, &slot);
  }

  // The destructor may use the object. What creates it once more is called again by the C library.
  static void destroy(void* of_thread) {
    Slot& slot = *static_cast<Slot*>(of_thread);
    slot.object()->~T();
    slot.is_alive = false;
  }

  static constinit inline thread_local Slot slot_ = {};
};

}  // namespace distrun::base
