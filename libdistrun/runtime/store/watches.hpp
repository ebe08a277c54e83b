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
  using Watchers = std::multimap<std::string, std::shared_ptr<Watcher>, std::less<>>;

 public:
  using Added = Watchers::iterator;

  // For the calling thread's rank.
  Added add(const std::string& key, Watch watch);
  void remove(Added added) noexcept { watchers_.erase(added); }
  // Of all that are there, one as often as it is watched.
  std::vector<std::string> keys() const;
  // What cannot be told, for want of memory or threads, is in the report of that rank.
  void tell(const std::vector<Change>& changes) noexcept;

 private:
  Watchers watchers_;
};

}  // namespace distrun::stores
