// Process groups in a forked process of a rank.
#include <catch2/catch.hpp>

#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/groups.hpp>
#include <distrun/runtime/collectives/monitored_barrier.hpp>
#include <distrun/runtime/collectives/objects.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/tensors.hpp>

#include "forked_uses.hpp"
#include "support/skip.hpp"

namespace distrun::testing {
namespace {

using collectives::ProcessGroup;
using Group = std::shared_ptr<ProcessGroup>;

void throw_unless(bool is_true, const std::string& what) {
  if (!is_true) throw Error(ErrorKind::Failed, what);
}

Group join_group(int rank, const std::string& folder, const std::string& backend) {
  if (backend == "nccl") {
    device::GpuSettings settings;
    settings.driver = "virtual";
    settings.devices = 2;
    device::choose_gpu_driver(settings);
  }
  collectives::GroupOptions options;
  options.backend = backend;
  options.timeout = std::chrono::seconds(30);
  return collectives::init_process_group({std::make_shared<FileStore>(folder + "/store"), rank, 2, options});
}

// Uses of the group itself. `ours`, `other` and `third` are tensors of the group's device.
std::vector<Use> call_uses(const Group& group, const Tensor& ours, const Tensor& other, const Tensor& third) {
  return {
      {"all_reduce", [group, ours] { group->all_reduce(ours); }},
      {"all_reduce that is async", [group, ours] { group->all_reduce(ours, ReduceOp::Sum, {.async = true}).wait(); }},
      {"all_reduce_coalesced", [group, ours] { group->all_reduce_coalesced({ours}); }},
      {"broadcast", [group, ours] { group->broadcast(ours); }},
      {"reduce", [group, ours] { group->reduce(ours); }},
      {"all_gather",
       [group, other, ours] {
         group->all_gather({ours, other}, ours);
       }},
      {"gather",
       [group, other, ours] {
         group->gather({ours, other}, ours);
       }},
      {"scatter",
       [group, other, ours] {
         group->scatter(ours, {ours, other});
       }},
      {"reduce_scatter",
       [group, other, ours] {
         group->reduce_scatter(ours, {ours, other});
       }},
      {"all_to_all",
       [group, other, ours, third] {
         group->all_to_all({other, third}, {ours, ours});
       }},
      {"barrier", [group] { group->barrier(); }},
      {"send", [group, ours] { group->send(ours, 1); }},
      {"receive", [group, ours] { group->receive(ours, 1); }},
      {"sequence_number", [group] { group->sequence_number(); }},
      {"store", [group] { group->store()->set("key", "value"); }},
      {"abort", [group] { group->abort(); }},
      {"leave", [group] { group->leave(); }},
  };
}

std::vector<Use> membership_uses(const Group& group, const std::string& folder, const std::string& backend) {
  return {
      {"default_group", [] { collectives::default_group(); }},
      {"is_initialized", [] { throw_unless(!collectives::is_initialized(), "there is a group"); }, true},
      {"init_process_group", [backend, folder] { join_group(0, folder, backend == "nccl" ? "shm" : backend); }},
      {"new_group",
       [] {
         collectives::new_group({0, 1});
       }},
      {"new_group of the group", [group] { collectives::new_group({0}, *group); }},
      {"new_group without this rank", [group] { collectives::new_group({1}, *group); }},
      {"split", [group] { collectives::split(*group, 1); }},
      {"destroy_process_group", [] { collectives::destroy_process_group(); }},
  };
}

// Each rank's 1 becomes the number of ranks; then rank 1 sends that to rank 0.
void use_group(ProcessGroup& group, const Tensor& ours) {
  group.all_reduce(ours).wait(group.host_wait());
  group.rank() == 1 ? group.send(ours, 0) : group.receive(ours, 1);
  const Tensor here = tensor::to(ours, device::kCpu);
  throw_unless(!tensor::difference(here, full({4}, 2)), "the sum is wrong");
  group.barrier();
}

Opened open_group(int rank, const std::string& folder, const std::string& backend) {
  const Group group = join_group(rank, folder, backend);
  const Tensor ours = ones({4}, {DType::F32, group->device()}), other = zeros({4}, {DType::F32, group->device()});
  group->barrier();
  // A message that has not arrived: a thread of the rank waits for it.
  std::optional<collectives::Work> pending;
  const Tensor late = zeros({1});
  if (backend != "nccl" && rank == 0) pending = group->receive(late, 1, 9, {.async = true});
  Opened opened;
  opened.uses = call_uses(group, ours, other, tensor::zeros_like(other));
  for (Use& each : membership_uses(group, folder, backend)) opened.uses.push_back(std::move(each));
  if (backend != "nccl") {
    opened.uses.push_back({"monitored_barrier", [group] { collectives::monitored_barrier(*group); }});
    opened.uses.push_back({"receive_from_any", [group, ours] { group->receive_from_any(ours); }});
    if (pending) opened.uses.push_back({"wait for a letter", [pending] { pending->wait(); }});
  }
  opened.work = [backend, group, ours, pending, rank] {
    use_group(*group, ours);
    if (backend == "nccl") return;
    if (rank == 1) group->send(ones({1}), 0, 9);
    if (pending) pending->wait();
  };
  opened.close = [] { collectives::destroy_process_group(); };
  return opened;
}

void check_group(const std::string& backend) {
  if (backend != "nccl") {  // nccl needs GPUs, which the ranks choose
    const std::string why_not = collectives::why_no_backend(backend);
    skip_case_if(!why_not.empty(), why_not);
  }
  check_children([&](int rank, const std::string& folder) { return open_group(rank, folder, backend); });
}

TEST_CASE("a forked process cannot take its parent's place in a group over shared memory") { check_group("shm"); }
TEST_CASE("a forked process cannot take its parent's place in a group of gloo") { check_group("gloo"); }
TEST_CASE("a forked process cannot take its parent's place in a group of nccl") { check_group("nccl"); }

}  // namespace
}  // namespace distrun::testing
