#include <distrun/runner/attempt/attempt_store.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::runner {

AttemptStore::AttemptStore() : memory_(::memfd_create("distrun store", MFD_CLOEXEC)) {
  if (!memory_) base::throw_errno("cannot create the shared memory of the ranks' store", errno);
}

std::string AttemptStore::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory_.get());
}

}  // namespace distrun::runner
