// Lifetime of references, the workers that know of them, and what the end of a session does with the remaining ones.
#include "suites.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>
#include <distrun/runtime/rpc/values/serializer.hpp>

#include "support/rref_callees_async.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

RRef<Tensor> add_at(const Rank& rank, int step, const Tensor& tensor, std::int64_t number) {
  return remote<Tensor>(next_worker(rank, step), "add", tensor, number);
}

// Ends the session without deleting references.
Thrown shut_down_with_a_leak(Rank& rank, bool ignore_leaks) {
  rank.barrier("all have begun");
  start_rpc(rank);
  open_group(rank);
  group_barrier();
  const auto kept = add_at(rank, 1, square(2), 1);
  kept.creation().wait();  // its owner has registered it
  rpc::SessionHooks hooks;
  hooks.delete_references = [] {};
  const rpc::UseHooks none(hooks);
  const Thrown thrown = thrown_by([&] { rpc::shutdown({.ignore_leaks = ignore_leaks}); });
  DISTRUN_EXPECT(!rpc::is_initialized());
  return thrown;
}

// Returns the value of the key; "nothing" if there is none.
std::string told(const std::string& key) {
  const auto info = rref::debug_info();
  const auto found = info.find(key);
  return found == info.end() ? "nothing" : found->second;
}

void expect_owned(const std::string& owned) {
  DISTRUN_EXPECT(told("num_owner_rrefs") == owned);
  DISTRUN_EXPECT(told("num_pending_users") == "0");
}

std::set<std::string> keys_of(const std::map<std::string, std::string>& info) {
  std::set<std::string> keys;
  for (const auto& [key, value] : info) keys.insert(key);
  return keys;
}

// One of two objects that own each other.
struct Holder {
  std::int64_t value = 0;
  std::shared_ptr<Holder> other{};
  RRef<Tensor> rref{};
};

// Keeps objects until the process ends, without destroying them.
void keep_for_ever(std::shared_ptr<Holder> holder) {
  static std::mutex mutex;
  static auto* const all = new std::vector<std::shared_ptr<Holder>>;
  const std::lock_guard lock(mutex);
  all->push_back(std::move(holder));
}

// Writes a value to a file with the default serializer.
void save(const rpc::Value& value, const std::string& path) {
  const rpc::Packed packed = rpc::default_serializer().pack(value);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(packed.bytes.data()), static_cast<std::streamsize>(packed.bytes.size()));
}

}  // namespace

DISTRUN_TEST(RpcTest, rref_leak) {
  DISTRUN_EXPECT(shut_down_with_a_leak(rank, false) == an_error("RuntimeError", "Leaking RRef"));
}

DISTRUN_TEST(RpcTest, ignore_rref_leak) { DISTRUN_EXPECT(shut_down_with_a_leak(rank, true).type == ""); }

DISTRUN_TEST_F(RpcTest, rref_context_debug_info) {
  open_group(rank);
  std::optional<RRef<rpc::Value>> local(std::in_place, rpc::to_value(rank.rank()));
  expect_owned("0");
  group_barrier();

  rpc_sync(next_worker(rank), set_global_rref, *local);
  wait_until_references_settle();
  group_barrier();
  expect_owned("1");
  group_barrier();

  rpc_sync(next_worker(rank), clear_global_rref);
  wait_until_owners_and_forks(std::string(rank.worker_name()), 0, 0);
  group_barrier();

  const auto first = add_at(rank, 1, square(2), 1), second = add_at(rank, 1, square(2), 1);
  DISTRUN_EXPECT(what_differs(first.to_here(), square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(second.to_here(), square(2, 2)) == "");
  wait_until_references_settle();
  group_barrier();
  expect_owned("2");
  group_barrier();
}

DISTRUN_TEST_F(RpcTest, debug_info) {
  // An agent has keys for each peer that it has met.
  for (int step = 1; step < rank.world_size(); ++step) rpc_sync(next_worker(rank, step), noop);
  rank.barrier("all have met");
  const auto references = keys_of(rref::debug_info());
  const auto agent = keys_of(rpc::agent_debug_info());
  const auto autograd = keys_of(dist_autograd::debug_info());
  std::set<std::string> all;
  for (const auto* part : {&references, &agent, &autograd}) {
    DISTRUN_EXPECT(!part->empty());
    all.insert(part->begin(), part->end());
  }
  DISTRUN_EXPECT(all.size() == references.size() + agent.size() + autograd.size());  // no key appears twice
  DISTRUN_EXPECT(keys_of(rpc::debug_info()) == all);
}

DISTRUN_TEST_F(RpcTest, non_garbage_collected_user_rref_due_to_local_circular_dependency) {
  const auto first = std::make_shared<Holder>(Holder{1}), second = std::make_shared<Holder>(Holder{2});
  first->other = second;
  second->other = first;
  first->rref = add_at(rank, 1, square(rank.rank()), 2);
  keep_for_ever(first);
  DISTRUN_EXPECT(thrown_by([] { rpc::shutdown(); }).type == "");
  DISTRUN_EXPECT(thrown_by([&] { first->rref.to_here(); }) == an_error("RuntimeError", "after deletion"));
}

DISTRUN_TEST(RpcTest, use_rref_after_shutdown) {
  rank.barrier("all have begun");
  start_rpc(rank);
  const std::int64_t n = n_of(rank);
  const auto rref = remote<Tensor>(next_worker(rank), "add", square(n), square(n));
  const std::shared_ptr<rpc::ReferenceService> service = rpc::current_calls()->references();
  rpc::shutdown();
  DISTRUN_EXPECT(thrown_by([&] { rref.to_here(); }) ==
                 an_error("RuntimeError", "Cannot call to_here() on it after deletion."));
  DISTRUN_EXPECT(thrown_by([&] {
                   const rpc::Packing as_argument(service.get(), next_rank(rank));
                   rpc::default_serializer().pack(rpc::to_value(rref));
                 }) == an_error("RuntimeError", "Cannot call fork an UserRRef after deletion."));
}

DISTRUN_TEST_F(RpcTest, user_rrefs_confirmed) {
  const auto rref = add_at(rank, 2, zeros({2, 2}), 1);
  DISTRUN_EXPECT(rpc_sync(next_worker(rank), check_rref_confirmed, rref));
}

DISTRUN_TEST_F(RpcTest, user_rrefs_confirmed_remote) {
  const auto rref = add_at(rank, 2, zeros({2, 2}), 1);
  DISTRUN_EXPECT(remote(next_worker(rank), check_rref_confirmed, rref).to_here());
}

DISTRUN_TEST_F(RpcTest, rref_py_pickle_not_supported) {
  const RRef<std::int64_t> local(35);
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("distrun-rref-" + std::to_string(::getpid()) + "-" + std::to_string(rank.rank()));
  DISTRUN_EXPECT(thrown_by([&] { save(rpc::to_value(local), path.string()); }) ==
                 an_error("RuntimeError", "Can not pickle rref in python pickler"));
  DISTRUN_EXPECT(!std::filesystem::exists(path));
}

DISTRUN_TEST(RpcTest, shutdown_errors) {
  rank.barrier("all have begun");
  open_group(rank);
  start_rpc(rank);
  if (rank.rank() == 0) {
    DISTRUN_EXPECT(thrown_by([] { rpc::shutdown(); }) == an_error("RuntimeError", "timed out in _all_gather after "));
  } else {
    rpc::SessionHooks hooks;
    hooks.after_broadcast = [] { throw Error(ErrorKind::Failed, "simulation"); };
    hooks.delete_references = [] { throw Error(ErrorKind::Failed, "simulation rref"); };
    const rpc::UseHooks failing(hooks);
    DISTRUN_EXPECT(thrown_by([] { rpc::shutdown(); }) == an_error("RuntimeError", "simulation rref"));
  }
  DISTRUN_EXPECT(!rpc::is_initialized());
  group_barrier();
}
