#include <distrun/runner/record/machine.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <distrun/common/base/cpu_list.hpp>

namespace distrun::runner {

int usable_cpus() { return base::cpu_count_of_thread(); }

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
