#pragma once
// Who wants to know of changes: each is told of its key's, one after the other and in order, on the handlers of the
// rank that asked. Not thread-safe; telling blocks nobody.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/store/key_table.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

class Watcher;

class Watches {
 public:
  // For the calling thread's rank.
  void add(const std::string& key, Watch watch);
  void tell(const std::vector<Change>& changes);

 private:
  std::multimap<std::string, std::shared_ptr<Watcher>, std::less<>> watchers_;
};

}  // namespace distrun::stores
