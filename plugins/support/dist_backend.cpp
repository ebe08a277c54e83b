#include "dist_backend.hpp"

#include "hosts.hpp"

namespace distrun::suites {
namespace {

void open_group(const Rank& rank, base::Nanoseconds timeout) {
  GroupOptions options{.backend = std::string(rank.backend()), .timeout = timeout};
  collectives::init_process_group(
      {meeting_store(rank, "", timeout), rank.rank(), rank.world_size(), std::move(options)});
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

std::shared_ptr<Store> store_of_hosts(const std::string& ending) {
  if (!are_hosts_several()) return nullptr;
  return std::make_shared<PrefixStore>("default_group" + ending, stores::rank_store());
}

std::shared_ptr<Store> meeting_store(const Rank& rank, const std::string& ending, base::Nanoseconds timeout) {
  if (auto store = store_of_hosts(ending)) {
    store->set_timeout(timeout);
    return store;
  }
  return stores::rendezvous("file://" + group_file(rank) + ending, rank.rank(), rank.world_size(), timeout).store;
}

}  // namespace distrun::suites
