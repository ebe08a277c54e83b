#include <distrun/plugin/rank/thread_owner.hpp>

#include <sys/prctl.h>

#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace distrun::rank {
namespace {

constexpr std::string_view kName = "rank ";

int ranks = 0;  // that share this process
constinit thread_local int bound_to = -1;

// Returns 2 for "rank 2", and -1 for anything else.
int rank_in(std::string_view name) noexcept {
  if (!name.starts_with(kName)) return -1;
  int rank = -1;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kName.size(), end, rank);
  return parsed.ec == std::errc() && parsed.ptr == end && rank < ranks ? rank : -1;
}

}  // namespace

void share_process(int world_size) noexcept { ranks = world_size; }

std::string thread_name_of(int rank) { return std::string(kName) + std::to_string(rank); }

int owner_of_thread() noexcept {
  if (ranks == 0 || bound_to >= 0) return bound_to;
  char name[16] = "";
  ::prctl(PR_GET_NAME, name, 0, 0, 0);
  return rank_in({name, ::strnlen(name, sizeof name)});
}

int bind_thread(int rank) noexcept { return std::exchange(bound_to, rank < ranks ? rank : -1); }

}  // namespace distrun::rank
