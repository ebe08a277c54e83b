#pragma once
// Process groups, stores and futures, for plugins that are linked with the runtime (distrun_add_plugin(NAME RUNTIME
// ...)):
//
//   #include <distrun/collectives.hpp>
//   #include <distrun/tensors.hpp>
//   #include <distrun/test.hpp>
//
//   DISTRUN_TEST(AllReduce, sums) {
//     const auto group = distrun::init_process_group(rank);
//     const distrun::Tensor ones = distrun::ones({4});
//     group->all_reduce(ones);
//     DISTRUN_EXPECT(!distrun::tensor::difference(ones, distrun::full({4}, rank.world_size())));
//   }
#ifdef DISTRUN_PLUGIN_WITHOUT_RUNTIME
#error "<distrun/collectives.hpp> needs libdistrun.so: write distrun_add_plugin(NAME RUNTIME ...)"
#endif
#include <memory>
#include <string>

#include <distrun/plugin/sdk/context.hpp>
#include <distrun/runtime/collectives/debug_level.hpp>
#include <distrun/runtime/collectives/groups.hpp>
#include <distrun/runtime/collectives/monitored_barrier.hpp>
#include <distrun/runtime/collectives/objects.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/collectives/sparse_all_reduce.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/nn/data_parallel.hpp>
#include <distrun/runtime/nn/sync_batch_norm.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/store/rank_store.hpp>
#include <distrun/runtime/store/rendezvous.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

namespace distrun {

using collectives::all_gather_object;
using collectives::all_reduce_sparse;
using collectives::broadcast_object;
using collectives::default_group;
using collectives::destroy_process_group;
using collectives::gather_object;
using collectives::init_process_group;
using collectives::monitored_barrier;
using collectives::new_group;
using collectives::scatter_object;
using collectives::split;

// Returns the store that the ranks of the test share; empty when the attempt begins. Thread-safe. Throws as
// stores::rank_store().
inline std::shared_ptr<Store> store(const Rank& /*rank*/) { return stores::rank_store(); }

// Creates the default group, of all ranks of the test, and returns when they have joined. They meet in store(). The
// backend is that of --backend, unless `options` name another. Throws as collectives::init_process_group().
inline std::shared_ptr<ProcessGroup> init_process_group(const Rank& rank, GroupOptions options = {.backend = ""},
                                                        base::Location site = base::Location::here()) {
  if (options.backend.empty()) options.backend = rank.backend();
  return collectives::init_process_group({stores::rank_store(), rank.rank(), rank.world_size(), std::move(options)},
                                         site);
}

}  // namespace distrun
