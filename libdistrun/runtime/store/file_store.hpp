#pragma once
// A store in a file that processes of one machine share: a log of the changes (store_log.hpp), which each process
// replays, and which is compacted when it has grown. Its size on the disk depends on the store's contents, not on their
// history. A waiting call polls, at first every 0.1 ms, later every 5 ms.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// A store in a file; see the top of this header. Thread-safe.
class FileStore final : public Store {
 public:
  // Opens the store, and creates the file if it does not exist; an empty file is an empty store. Once `world_size`
  // stores have been closed, the last one removes the file (a rank may have several stores); -1: it stays. Throws
  // Error{Failed} if the file can't be opened or is not a store.
  explicit FileStore(std::string path, int world_size = -1);
  ~FileStore() override;

  const std::string& path() const noexcept;  // as passed to the constructor

 private:
  struct Shared;

  Reply run(const Request& request, const WaitLimit& limit, Location site) override;

  Error locked(base::Nanoseconds timeout, Location site) const;

  const std::unique_ptr<Shared> shared_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::FileStore;
}  // namespace distrun
