#include <distrun/runtime/store/hash_store.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/runtime/store/waiting.hpp>
#include <distrun/runtime/store/watches.hpp>

namespace distrun::stores {

// Belongs to the process that first uses it: a plugin may create one while it is loaded, before its ranks are forked.
struct HashStore::Shared {
  void use(Location site) {
    mark.set_once();
    mark.check("a HashStore", "use a FileStore or a TcpStore, which several processes can share", site);
  }

  void wait(const Request& request, std::unique_lock<std::mutex>& lock, const WaitLimit& limit, Location site,
            const std::function<bool()>& is_done);

  base::ProcessMark mark{base::ProcessMark::Unset{}};
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex.
  KeyTable table;
  Watches watches;
};

// Blocks until the request is done. Throws base::PeerFailed if another rank fails, or if one has died that is to bring
// the key: its threads share the table, but a rank that is a process may have been awaited, too. Throws Error{Timeout}.
void HashStore::Shared::wait(const Request& request, std::unique_lock<std::mutex>& lock, const WaitLimit& limit,
                             Location site, const std::function<bool()>& is_done) {
  const base::TimePoint begin = base::system_clock().now();
  std::string name;
  const board::WaitInfo info = wait_for(request, name, site);
  const core::Wait shown(info, limit.deadline);  // the waits below are slices of it
  for (AwaitedDeaths deaths;;) {
    const auto death = deaths.find();
    const auto end = core::wait_for_peers(info, lock, changed, death ? begin : deaths.next(limit.deadline), is_done);
    if (end == core::WaitEnd::Ready) return;
    if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("waiting for the key " + name, site);
    if (death) throw_awaited_death("waiting for the key " + name, *death, site);
    if (base::system_clock().now() >= limit.deadline)
      throw timeout_error(limit.timeout, table.named_missing(request), site);
  }
}

HashStore::HashStore() : shared_(std::make_unique<Shared>()) {}
HashStore::~HashStore() = default;

void HashStore::watch(const std::string& key, Watch watch) {
  shared_->use(Location::here());
  const std::lock_guard lock(shared_->mutex);
  shared_->watches.add(key, std::move(watch));
}

Reply HashStore::run(const Request& request, const WaitLimit& limit, Location site) {
  shared_->use(site);
  std::vector<Change> changes;
  std::unique_lock lock(shared_->mutex);
  Reply reply = shared_->table.run(request, &changes);
  if (!reply.is_ready) {
    shared_->wait(request, lock, limit, site, [&] {
      if (!reply.is_ready) reply = shared_->table.run(request, &changes);  // only once: may remove something
      return reply.is_ready;
    });
  }
  shared_->watches.tell(changes);
  if (is_change(request.op)) shared_->changed.notify_all();
  return reply;
}

}  // namespace distrun::stores
