#include "job.hpp"

#include <pmix.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <distrun/common/base/directories.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::pmix {
namespace {

void require(pmix_status_t status, const char* call) {
  if (status == PMIX_SUCCESS) return;
  throw Error(ErrorKind::Failed, std::string(call) + ": " + PMIx_Error_string(status));
}

// Waits for the end of a call that libpmix ends on its own thread.
class Completion {
 public:
  static void done(pmix_status_t status, void* completion) { static_cast<Completion*>(completion)->set(status); }
  // `started`: what the call has returned.
  void wait(pmix_status_t started, const char* call) {
    if (started == PMIX_OPERATION_SUCCEEDED) return;
    require(started, call);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_done_; });
    require(status_, call);
  }

 private:
  void set(pmix_status_t status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
    is_done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  pmix_status_t status_ = PMIX_SUCCESS;
  bool is_done_ = false;
};

// A list of keys and values, of which libpmix makes an array.
class InfoList {
 public:
  InfoList() : list_(PMIx_Info_list_start()) {}
  ~InfoList() {
    PMIx_Info_list_release(list_);
    PMIX_DATA_ARRAY_DESTRUCT(&array_);
  }
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;

  void add(const char* key, std::uint32_t value) { put(key, &value, PMIX_UINT32); }
  void add_small(const char* key, int value) {
    const auto number = static_cast<std::uint16_t>(value);
    put(key, &number, PMIX_UINT16);
  }
  void add_rank(const char* key, int value) {
    const auto rank = static_cast<pmix_rank_t>(value);
    put(key, &rank, PMIX_PROC_RANK);
  }
  void add_process(const char* key, const pmix_proc_t& value) { put(key, &value, PMIX_PROC); }
  void add(const char* key, bool value) { put(key, &value, PMIX_BOOL); }
  void add(const char* key, const std::string& value) { put(key, value.c_str(), PMIX_STRING); }
  void add_map(const char* key, const char* value) { put(key, value, PMIX_REGEX); }
  void add(const char* key, InfoList& values) { put(key, &values.array(), PMIX_DATA_ARRAY); }

  pmix_data_array_t& array() {
    if (array_.array == nullptr) require(PMIx_Info_list_convert(list_, &array_), "PMIx_Info_list_convert");
    return array_;
  }
  pmix_info_t* data() { return static_cast<pmix_info_t*>(array().array); }
  std::size_t size() { return array().size; }

 private:
  void put(const char* key, const void* value, pmix_data_type_t type) {
    require(PMIx_Info_list_add(list_, key, value, type), "PMIx_Info_list_add");
  }

  void* list_;
  pmix_data_array_t array_{};
};

// Open MPI puts its files there, and leaves the directories alone.
std::string directory_of(const wire::MpiOrder& order, const Job& job) {
  return order.directory + (job.parent ? "/" + job.world : "/world");
}
std::string directory_of(const wire::MpiOrder& order, const Job& job, int rank) {
  return directory_of(order, job) + "/" + std::to_string(rank);
}

std::string list_of_ranks(int count) {
  std::string list;
  for (int rank = 0; rank < count; ++rank) list += (rank == 0 ? "" : ",") + std::to_string(rank);
  return list;
}

// libpmix compresses maps of nodes and of ranks, into texts that it alone reads.
class Maps {
 public:
  Maps(const std::string& host, int ranks) {
    require(PMIx_generate_regex(host.c_str(), &nodes_), "PMIx_generate_regex");
    require(PMIx_generate_ppn(list_of_ranks(ranks).c_str(), &ranks_), "PMIx_generate_ppn");
  }
  ~Maps() {
    std::free(nodes_);
    std::free(ranks_);
  }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;

  const char* nodes() const noexcept { return nodes_; }
  const char* ranks() const noexcept { return ranks_; }

 private:
  char* nodes_ = nullptr;
  char* ranks_ = nullptr;
};

// Where a rank is among the programs of its job.
struct PlaceInApps {
  int app = 0;
  int rank = 0;   // within the app
  int first = 0;  // the job's rank with which the app begins
};

PlaceInApps place_of(const Job& job, int rank) {
  PlaceInApps place{0, rank, 0};
  while (place.rank >= job.apps[static_cast<std::size_t>(place.app)]) {
    const int count = job.apps[static_cast<std::size_t>(place.app)];
    place = {place.app + 1, place.rank - count, place.first + count};
  }
  return place;
}

void add_rank(InfoList& info, const wire::MpiOrder& order, const Job& job, int rank) {
  const PlaceInApps place = place_of(job, rank);
  InfoList each;
  each.add_rank(PMIX_RANK, rank);
  each.add_rank(PMIX_GLOBAL_RANK, rank);
  each.add_rank(PMIX_APP_RANK, place.rank);
  each.add_small(PMIX_LOCAL_RANK, rank);
  each.add_small(PMIX_NODE_RANK, rank);
  each.add(PMIX_NODEID, std::uint32_t{0});
  each.add(PMIX_APPNUM, static_cast<std::uint32_t>(place.app));
  each.add(PMIX_HOSTNAME, order.host);
  base::make_directories(directory_of(order, job, rank));
  each.add(PMIX_PROCDIR, directory_of(order, job, rank));
  info.add(PMIX_PROC_DATA, each);
}

void add_sizes(InfoList& info, const Job& job) {
  const auto ranks = static_cast<std::uint32_t>(job.ranks());
  for (const char* const key : {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_LOCAL_SIZE, PMIX_NODE_SIZE, PMIX_MAX_PROCS}) {
    info.add(key, ranks);
  }
  info.add(PMIX_APP_SIZE, static_cast<std::uint32_t>(job.apps.front()));
  info.add(PMIX_NUM_NODES, std::uint32_t{1});
  info.add(PMIX_JOB_NUM_APPS, static_cast<std::uint32_t>(job.apps.size()));
  info.add_rank(PMIX_LOCALLDR, 0);
  info.add_rank(PMIX_APPLDR, 0);
}

void describe(const wire::MpiOrder& order, const Job& job, InfoList& info) {
  add_sizes(info, job);
  const Maps maps(order.host, job.ranks());
  info.add_map(PMIX_NODE_MAP, maps.nodes());
  info.add_map(PMIX_PROC_MAP, maps.ranks());
  info.add(PMIX_LOCAL_PEERS, list_of_ranks(job.ranks()));
  base::make_directories(directory_of(order, job));
  info.add(PMIX_TMPDIR, order.directory);
  info.add(PMIX_NSDIR, directory_of(order, job));
  info.add(PMIX_TDIR_RMCLEAN, true);
  if (job.parent) {
    info.add(PMIX_SPAWNED, true);
    info.add_process(PMIX_PARENT_ID, *job.parent);
  }
  for (int rank = 0; rank < job.ranks(); ++rank) add_rank(info, order, job, rank);
}

// A variable that the user has set stays.
void add_default(wire::RankVariables& rank, const std::string& name, const std::string& value) {
  if (std::getenv(name.c_str()) == nullptr) rank.variables.push_back(name + "=" + value);
}

// Open MPI 4 takes itself for a world of one unless it sees the address of a daemon of its own; nothing need listen
// there. The memory that its ranks share has names without the run's id, so it gets a directory of the run.
void add_open_mpi(wire::RankVariables& rank, const wire::MpiOrder& order) {
  rank.variables.emplace_back("OMPI_MCA_orte_local_daemon_uri=1.0;tcp://127.0.0.1:1");
  if (order.crowded) add_default(rank, "OMPI_MCA_mpi_oversubscribe", "1");
  for (const char* const user : {"btl_vader", "btl_sm", "osc_sm", "osc_rdma"}) {
    add_default(rank, std::string("OMPI_MCA_") + user + "_backing_directory", order.shared);
  }
}

wire::RankVariables register_rank(const wire::MpiOrder& order, const Job& job, int rank) {
  pmix_proc_t name;
  PMIX_LOAD_PROCID(&name, job.world.c_str(), static_cast<pmix_rank_t>(rank));
  Completion registered;
  registered.wait(PMIx_server_register_client(&name, ::getuid(), ::getgid(), nullptr, Completion::done, &registered),
                  "PMIx_server_register_client");
  char** environment = nullptr;
  require(PMIx_server_setup_fork(&name, &environment), "PMIx_server_setup_fork");
  wire::RankVariables result;
  for (char** each = environment; each != nullptr && *each != nullptr; ++each) {
    result.variables.emplace_back(*each);
    std::free(*each);
  }
  std::free(environment);
  add_open_mpi(result, order);
  return result;
}

}  // namespace

int Job::ranks() const noexcept { return std::accumulate(apps.begin(), apps.end(), 0); }

void start_server(const wire::MpiOrder& order, pmix_server_module_t functions) {
  InfoList options;
  options.add(PMIX_SERVER_TMPDIR, order.directory);
  options.add(PMIX_SYSTEM_TMPDIR, order.directory);
  options.add(PMIX_SERVER_TOOL_SUPPORT, false);
  require(PMIx_server_init(&functions, options.data(), options.size()), "PMIx_server_init");
}

std::vector<wire::RankVariables> register_job(const wire::MpiOrder& order, const Job& job) {
  InfoList info;
  describe(order, job, info);
  pmix_nspace_t world;
  PMIX_LOAD_NSPACE(world, job.world.c_str());
  Completion registered;
  registered.wait(
      PMIx_server_register_nspace(world, job.ranks(), info.data(), info.size(), Completion::done, &registered),
      "PMIx_server_register_nspace");
  std::vector<wire::RankVariables> ranks;
  for (int rank = 0; rank < job.ranks(); ++rank) ranks.push_back(register_rank(order, job, rank));
  return ranks;
}

}  // namespace distrun::pmix
