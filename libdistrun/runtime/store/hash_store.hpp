#pragma once
// A store in this process: for ranks that are threads, and for tests. In a forked process it throws Error{Failed},
// since the process has only a copy of it.
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// A store in memory. Thread-safe.
class HashStore final : public Store {
 public:
  HashStore();
  ~HashStore() override;

  // The watch lasts as long as the store.
  void watch(const std::string& key, Watch watch) override;

 private:
  struct Shared;

  Reply run(const Request& request, const WaitLimit& limit, Location site) override;

  const std::unique_ptr<Shared> shared_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::HashStore;
}  // namespace distrun
