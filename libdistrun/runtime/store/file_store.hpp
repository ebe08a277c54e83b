#pragma once
// A store in a file that processes of one machine share: a log of what was done (store_log.hpp), which each replays,
// and which is compacted when it has grown. Its size on the disk depends on what is in the store, not on how it came
// there. A waiting call looks again, at first each tenth of a millisecond and later each five.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

class FileStore final : public Store {
 public:
  // The file need not be there; an empty one is an empty store. Once `world_size` stores have ended, the last that is
  // left removes it (a rank may have several); of -1 it stays. Throws Error{Failed} if it can't be opened, or is
  // something else.
  explicit FileStore(std::string path, int world_size = -1);
  ~FileStore() override;

  const std::string& path() const noexcept;

 private:
  struct Shared;

  Reply run(const Request& request, base::TimePoint deadline, Location site) override;

  Error locked(base::Nanoseconds timeout, Location site) const;

  const std::unique_ptr<Shared> shared_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::FileStore;
}  // namespace distrun
