// Operations of stores, by one client and by many.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

namespace {

using namespace distrun;

// A table, which creates its clients.
class Table {
 public:
  virtual ~Table() = default;
  virtual std::shared_ptr<Store> open() = 0;
};

class HashTable final : public Table {
 public:
  std::shared_ptr<Store> open() override { return store_; }

 private:
  std::shared_ptr<Store> store_ = std::make_shared<HashStore>();
};

class FileTable final : public Table {
 public:
  FileTable() { (void)!::mkdtemp(folder_.data()); }
  ~FileTable() override { std::filesystem::remove_all(folder_); }
  std::shared_ptr<Store> open() override { return std::make_shared<FileStore>(folder_ + "/store"); }

 private:
  std::string folder_ = std::filesystem::temp_directory_path().string() + "/store_bench_XXXXXX";
};

class TcpTable final : public Table {
 public:
  std::shared_ptr<Store> open() override {
    return std::make_shared<TcpStore>("127.0.0.1", TcpStoreOptions{.port = server_.port()});
  }

 private:
  TcpStore server_{"127.0.0.1", {.is_server = true}};
};

// Each client adds this many times per iteration; the results are counted.
constexpr int kEach = 100;

template <class Kind>
void adds(benchmark::State& state) {
  Kind table;
  std::vector<std::shared_ptr<Store>> clients;
  for (std::int64_t i = 0; i < state.range(0); ++i) clients.push_back(table.open());
  for (auto _ : state) {
    if (clients.size() == 1) {
      for (int i = 0; i < kEach; ++i) clients[0]->add("sum", 1);
      continue;
    }
    std::vector<base::Thread> threads;
    for (const auto& client : clients) {
      threads.emplace_back("client", [&client] {
        for (int i = 0; i < kEach; ++i) client->add("sum", 1);
      });
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kEach);
}

template <class Kind>
void set_and_get(benchmark::State& state) {
  Kind table;
  const auto one = table.open(), other = table.open();
  for (auto _ : state) {
    one->set("key", "value");
    benchmark::DoNotOptimize(other->get("key"));
  }
  state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK(adds<HashTable>)->Name("hash/adds")->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(adds<FileTable>)->Name("file/adds")->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(adds<TcpTable>)->Name("tcp/adds")->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(set_and_get<HashTable>)->Name("hash/set_and_get")->UseRealTime();
BENCHMARK(set_and_get<FileTable>)->Name("file/set_and_get")->UseRealTime();
BENCHMARK(set_and_get<TcpTable>)->Name("tcp/set_and_get")->UseRealTime();

}  // namespace
