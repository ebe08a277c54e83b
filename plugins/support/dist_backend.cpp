#include "dist_backend.hpp"

#include <distrun/collectives.hpp>

namespace distrun::suites {
namespace {

void open_group(const Rank& rank, base::Nanoseconds timeout) {
  const stores::Rendezvous found =
      stores::rendezvous("file://" + group_file(rank), rank.rank(), rank.world_size(), timeout);
  GroupOptions options{.backend = std::string(rank.backend()), .timeout = timeout};
  collectives::init_process_group({found.store, found.rank, found.world_size, std::move(options)});
}

}  // namespace

void TestDistBackend::set_up(Rank& rank) {
  rank.barrier("all have begun");  // the start-up time of ranks does not count against the group's timeout
  try {
    open_group(rank, group_timeout());
  } catch (const Error& error) {
    const bool is_missing = error.kind() == ErrorKind::Unimplemented && !is_backend_available(rank.backend());
    if (!is_missing) throw;
    rank.note("backend", error.what());
    skip_as("backend_unavailable");
  }
  rank.barrier("all have opened the group");
}

void TestDistBackend::tear_down(Rank& rank) {
  rank.barrier("all have done their part");
  if (collectives::is_initialized()) destroy_process_group();
}

std::string group_file(const Rank& rank) { return std::string(rank.temp_dir()) + "/default_group"; }

}  // namespace distrun::suites
