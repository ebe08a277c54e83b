#include <distrun/plugin/rank/limits.hpp>

#include <sys/resource.h>

namespace distrun::rank {
namespace {

void set_soft_limit(__rlimit_resource resource, std::uint64_t value) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = value;
  ::setrlimit(resource, &limit);
}

}  // namespace

std::uint64_t tag() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_LOCKS, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

void set_tag(std::uint64_t tag) { set_soft_limit(RLIMIT_LOCKS, tag); }

void restore_files_limit(std::uint64_t files_max) {
  if (files_max > 0) set_soft_limit(RLIMIT_NOFILE, files_max);
}

}  // namespace distrun::rank
