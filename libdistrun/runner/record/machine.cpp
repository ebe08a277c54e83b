#include <distrun/runner/record/machine.hpp>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace distrun::runner {

int usable_cpus() {
  cpu_set_t usable{};
  const bool told = ::sched_getaffinity(0, sizeof usable, &usable) == 0;  // fails with more than 1024 CPUs
  return told ? CPU_COUNT(&usable) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

Machine this_machine() {
  Machine machine;
  utsname name{};
  if (::uname(&name) == 0) {
    machine.hostname = name.nodename;
    machine.kernel = std::string(name.sysname) + " " + name.release;
  }
  machine.cpus = usable_cpus();
  machine.memory_bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return machine;
}

}  // namespace distrun::runner
