#include <distrun/base/thread.hpp>

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include <distrun/base/error.hpp>

namespace distrun::base {

Thread::Thread(const std::string& name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // Blocked around the start, because a thread inherits its maker's mask.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(ErrorKind::Overloaded, "cannot start thread '" + name + "': " + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

Thread::~Thread() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace distrun::base
