#include <distrun/plugin/rank/exit_call.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace distrun::rank {
namespace {

using Tell = void (*)(int code) noexcept;
std::atomic<Tell> listener{nullptr};
constexpr int kSanitizerExit = 1;  // only the sanitizer knows the real code, and its parent

[[noreturn]] void go_on(const char* name, int code) noexcept {
  if (const Tell tell = listener.load(std::memory_order_acquire)) tell(code);
  using Leave = void (*)(int);
  if (const auto leave = reinterpret_cast<Leave>(::dlsym(RTLD_NEXT, name))) leave(code);
  ::_exit(code);
}

}  // namespace

void set_exit_listener(Tell tell) noexcept { listener.store(tell, std::memory_order_release); }

// The runtime belongs to the plugin, so distrun-rank is not linked with it.
void watch_sanitizer() noexcept {
  using SetCallback = void (*)(void (*callback)());
  const auto set = reinterpret_cast<SetCallback>(::dlsym(RTLD_DEFAULT, "__sanitizer_set_death_callback"));
  if (set == nullptr) return;
  set([] {
    if (const Tell tell = listener.load(std::memory_order_acquire)) tell(kSanitizerExit);
  });
}

}  // namespace distrun::rank

extern "C" {
[[gnu::visibility("default")]] void exit(int code) noexcept { distrun::rank::go_on("exit", code); }
[[gnu::visibility("default")]] void quick_exit(int code) noexcept { distrun::rank::go_on("quick_exit", code); }
}
