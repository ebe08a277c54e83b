#include <distrun/plugin/rank/exit_call.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace distrun::rank {
namespace {

using Tell = void (*)(int code) noexcept;
std::atomic<Tell> listener{nullptr};

[[noreturn]] void go_on(const char* name, int code) noexcept {
  if (const Tell tell = listener.load(std::memory_order_acquire)) tell(code);
  using Leave = void (*)(int);
  if (const auto leave = reinterpret_cast<Leave>(::dlsym(RTLD_NEXT, name))) leave(code);
  ::_exit(code);
}

}  // namespace

void set_exit_listener(Tell tell) noexcept { listener.store(tell, std::memory_order_release); }

}  // namespace distrun::rank

extern "C" {
[[gnu::visibility("default")]] void exit(int code) noexcept { distrun::rank::go_on("exit", code); }
[[gnu::visibility("default")]] void quick_exit(int code) noexcept { distrun::rank::go_on("quick_exit", code); }
}
