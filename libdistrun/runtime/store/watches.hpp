#pragma once
// The watches of a store's client. Each watch is called for the changes of its key, in order and one after the other,
// on the handlers of the rank that added it. Not thread-safe; tell() does not block.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/store_server/key_table.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

class Watcher;

class Watches {
  using Watchers = std::multimap<std::string, std::shared_ptr<Watcher>, std::less<>>;

 public:
  using Added = Watchers::iterator;

  // Adds a watch for the calling thread's rank.
  Added add(const std::string& key, Watch watch);
  void remove(Added added) noexcept { watchers_.erase(added); }
  // Returns the key of every watch; a key that is watched twice appears twice.
  std::vector<std::string> keys() const;
  // Reports changes that cannot be delivered, because memory or threads are missing, in that rank's report.
  void tell(const std::vector<Change>& changes) noexcept;

 private:
  Watchers watchers_;
};

}  // namespace distrun::stores
