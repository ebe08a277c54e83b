// Stores, devices and profiles in a forked process of a rank.
#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/store/rank_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>
#include <distrun/tensors.hpp>

#include "forked_uses.hpp"
#include "support/scratch.hpp"

namespace distrun::testing {
namespace {

void expect_that(bool is_true, const std::string& what) {
  if (!is_true) throw Error(ErrorKind::Failed, what);
}

// Rank 0 runs the server and is a client of it, too; rank 1 learns the port from the file.
std::shared_ptr<TcpStore> open_tcp(int rank, FileStore& files) {
  TcpStoreOptions options;
  options.is_server = rank == 0;
  if (rank != 0) options.port = static_cast<std::uint16_t>(std::stoi(files.get("port")));
  auto store = std::make_shared<TcpStore>("127.0.0.1", options);
  if (rank == 0) files.set("port", std::to_string(store->port()));
  return store;
}

std::vector<Use> tcp_uses(const std::shared_ptr<Store>& store) {
  return {
      {"set", [store] { store->set("key", "of the child"); }},
      {"get", [store] { store->get("key"); }},
      {"add", [store] { store->add("number", 1); }},
      {"wait", [store] { store->wait({"no such key"}); }},
      {"watch", [store] { store->watch("key", [](const auto&, const auto&) {}); }},
      {"set behind a prefix", [store] { PrefixStore("prefix", store).set("key", "of the child"); }},
  };
}

Opened open_tcp_store(int rank, const std::string& folder) {
  FileStore files(folder + "/store");
  const std::shared_ptr<TcpStore> store = open_tcp(rank, files);
  TcpStoreOptions options;
  options.port = store->port();
  const auto client = std::make_shared<TcpStore>("127.0.0.1", options);
  client->watch("watched", [](const auto&, const auto&) {});
  store->set("key", "value");
  Opened opened;
  opened.uses = tcp_uses(store);
  for (Use& each : tcp_uses(client)) opened.uses.push_back(std::move(each));
  opened.work = [client, rank, store] {
    expect_that(client->get("key") == "value" && store->add("number", 0) == 0, "a child has changed the store");
    client->set("from " + std::to_string(rank), "");
    store->wait({"from 0", "from 1"}, std::chrono::seconds(20));
    if (store->add("end", 1) == 2) store->set("all", "");
    store->get("all");
  };
  return opened;
}

TEST_CASE(
    "a forked process cannot use its parent's connections to a TCP store, and closes neither them nor the server") {
  check_children(open_tcp_store);
}

TEST_CASE("a forked process opens a file store again, and does not count as a user that has ended") {
  check_children([](int rank, const std::string& folder) {
    ::setenv("DISTRUN_STORE", (folder + "/rank").c_str(), 1);
    const std::string path = folder + "/file";
    const std::shared_ptr<Store> file = std::make_shared<FileStore>(path, 2), own = stores::rank_store();
    const auto joined = std::make_shared<PrefixStore>("prefix", own);
    file->set("of " + std::to_string(rank), "");
    Opened opened;
    for (int i = 0; i < 3; ++i) {
      opened.uses.push_back({"add to a file store", [file] { file->add("number", 1); }, true});
      opened.uses.push_back({"add to the rank's store", [own] { own->add("number", 1); }, true});
      opened.uses.push_back({"add behind a prefix", [joined] { joined->add("number", 1); }, true});
    }
    opened.work = [file, joined, own, path] {
      expect_that(exists(path), "the file is gone");
      for (Store* const each : {file.get(), own.get(), static_cast<Store*>(joined.get())}) {
        expect_that(each->add("number", 0) == 3, "an update of a child is lost");
      }
    };
    return opened;
  });
}

TEST_CASE("a forked process has no HashStore of its parent") {
  check_children([](int, const std::string&) {
    const auto store = std::make_shared<HashStore>();
    store->set("key", "value");
    const auto unused = std::make_shared<HashStore>();
    Opened opened;
    opened.uses = {
        {"set", [store] { store->set("key", "of the child"); }},
        {"get", [store] { store->get("key"); }},
        {"watch", [store] { store->watch("key", [](const auto&, const auto&) {}); }},
        {"one that was not used before", [unused] { unused->set("key", "of the child"); }, true},
    };
    opened.work = [store] { expect_that(store->get("key") == "value", "a child has changed the store"); };
    return opened;
  });
}

Opened open_gpus(int rank, const std::string&) {
  if (rank != 0) return {};
  device::GpuSettings settings;
  settings.driver = "virtual";
  settings.devices = 2;
  device::choose_gpu_driver(settings);
  const Tensor there = set_requires_grad(ones({4}, {DType::F32, device::cuda(0)}));
  const Tensor root = sum(mul(there, there));
  backward(root, {}, {.retain_graph = true});  // starts the GPU's autograd thread
  const auto event = std::make_shared<Event>();
  event->record(device::default_stream(device::cuda(0)));
  const auto pinned = std::shared_ptr<device::Memory>(device::allocate_pinned(64));
  Opened opened;
  opened.uses = {
      {"synchronize a stream", [] { device::default_stream(device::cuda(0)).synchronize(); }},
      {"synchronize a device", [] { device::synchronize(device::cuda(0)); }},
      {"synchronize an event", [event] { event->synchronize(); }},
      {"record an event", [event] { event->record(device::default_stream(device::cuda(0))); }},
      {"a stream", [] { device::make_stream(device::cuda(0)); }},
      {"a tensor",
       [] {
         ones({4}, {DType::F32, device::cuda(1)});
       }},
      {"an operator", [there] { add(there, there); }},
      {"a copy to the host", [there] { tensor::to(there, device::kCpu); }},
      {"pinned memory", [] { device::allocate_pinned(64); }},
      {"backward", [root] { backward(root, {}, {.retain_graph = true}); }},
      {"gpu_count", [] { expect_that(device::gpu_count() == 2, "there are other GPUs"); }, true},
      {"tensors of the host", [] { add(ones({4}), ones({4})); }, true},
      {"copies of what is there", [pinned, there] { const auto copies = std::make_pair(there, pinned); }, true},
      {"a profile",
       [] {
         const profiler::Profile profile;
         add(ones({4}), ones({4}));
         expect_that(!profile.events().empty(), "nothing was recorded");
       },
       true},
  };
  opened.work = [there] {
    const Tensor here = tensor::to(add(there, there), device::kCpu);
    expect_that(!tensor::difference(here, full({4}, 2)), "the sum is wrong");
  };
  return opened;
}

TEST_CASE("a forked process cannot use its parent's GPUs, and frees nothing there") { check_children(open_gpus); }

}  // namespace
}  // namespace distrun::testing
