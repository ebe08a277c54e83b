#include <distrun/plugin/rank/binding.hpp>

#include <distrun/common/base/cpu_list.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rank {

void bind_to(const std::string& cpus) {
  if (cpus.empty()) return;
  const auto list = base::parse_cpu_list(cpus);
  if (!list) throw Error(ErrorKind::Failed, "ValueError", "\"" + cpus + "\" is no list of CPUs such as 0-3,8");
  base::bind_thread_to(*list);
}

}  // namespace distrun::rank
