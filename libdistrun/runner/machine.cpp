#include <distrun/runner/machine.hpp>

#include <sys/utsname.h>
#include <unistd.h>

namespace distrun::runner {

Machine this_machine() {
  Machine machine;
  utsname name{};
  if (::uname(&name) == 0) {
    machine.hostname = name.nodename;
    machine.kernel = std::string(name.sysname) + " " + name.release;
  }
  machine.cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return machine;
}

}  // namespace distrun::runner
