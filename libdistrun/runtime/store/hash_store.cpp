#include <distrun/runtime/store/hash_store.hpp>

#include <condition_variable>
#include <mutex>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/store/key_table.hpp>
#include <distrun/runtime/store/waiting.hpp>
#include <distrun/runtime/store/watches.hpp>

namespace distrun::stores {

// Belongs to the process that first uses it: a plugin may create one while it is loaded, before its ranks are forked.
struct HashStore::Shared {
  void use(Location site) {
    mark.set_once();
    mark.check("a HashStore", "use a FileStore or a TcpStore, which several processes can share", site);
  }

  base::ProcessMark mark{base::ProcessMark::Unset{}};
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex.
  KeyTable table;
  Watches watches;
};

HashStore::HashStore() : shared_(std::make_unique<Shared>()) {}
HashStore::~HashStore() = default;

void HashStore::watch(const std::string& key, Watch watch) {
  shared_->use(Location::here());
  const std::lock_guard lock(shared_->mutex);
  shared_->watches.add(key, std::move(watch));
}

Reply HashStore::run(const Request& request, base::TimePoint deadline, Location site) {
  shared_->use(site);
  const base::TimePoint begin = base::system_clock().now();
  std::string name;
  std::vector<Change> changes;
  std::unique_lock lock(shared_->mutex);
  Reply reply = shared_->table.run(request, &changes);
  if (!reply.is_ready) {
    const auto end = core::wait_for_peers(wait_for(request, name, site), lock, shared_->changed, deadline, [&] {
      if (!reply.is_ready) reply = shared_->table.run(request, &changes);  // only once: may remove something
      return reply.is_ready;
    });
    if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("waiting for the key " + name, site);
    if (end == core::WaitEnd::Timeout)
      throw timeout_error(deadline - begin, shared_->table.named_missing(request), site);
  }
  shared_->watches.tell(changes);
  if (is_change(request.op)) shared_->changed.notify_all();
  return reply;
}

}  // namespace distrun::stores
