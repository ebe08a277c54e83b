#include <distrun/runtime/store/file_store.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/store/store_log.hpp>
#include <distrun/runtime/store/waiting.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kFirstRest = 100us;
constexpr base::Nanoseconds kLastRest = 5ms;
constexpr base::Nanoseconds kLastPatience = 2s;  // of the destructor
constexpr char kEnded[] = "distrun/ended";       // how many stores of the file have ended

}  // namespace

struct FileStore::Shared {
  Shared(std::string path, int world_size_) : world_size(world_size_), log(std::move(path)) {}

  std::optional<Reply> try_run(const Request& request) {
    const std::lock_guard lock(mutex);
    return log.try_run(request);
  }
  Error timeout(base::Nanoseconds timeout, const Request& request, base::Location site) {
    const std::lock_guard lock(mutex);
    return timeout_error(timeout, log.missing(request), site);
  }

  const int world_size;
  const base::ProcessMark mark;
  std::mutex mutex;
  StoreLog log;  // guarded by the mutex
};

FileStore::FileStore(std::string path, int world_size)
    : shared_(std::make_unique<Shared>(std::move(path), world_size)) {}

// A store that is destroyed without being counted counts as killed: the file stays. The copy in a forked process is not
// counted, and does not end its parent's presence.
FileStore::~FileStore() {
  if (shared_->world_size <= 0 || shared_->mark.is_inherited()) return;
  shared_->log.leave();
  try {
    const Reply reply =
        run({Op::Add, {kEnded}, {}, 1}, {base::system_clock().now() + kLastPatience, kLastPatience}, Location::here());
    if (reply.number >= shared_->world_size && shared_->log.is_last()) shared_->log.remove();
  } catch (const std::exception&) {  // ours, or std::bad_alloc
    return;
  }
}

const std::string& FileStore::path() const noexcept { return shared_->log.path(); }

Reply FileStore::run(const Request& request, const WaitLimit& limit, Location site) {
  std::optional<Reply> reply = shared_->try_run(request);
  if (reply && reply->is_ready) return std::move(*reply);
  std::string name;
  core::PollingWait wait(wait_for(request, name, site), limit.deadline);
  base::Nanoseconds rest = kFirstRest;
  AwaitedDeaths deaths;
  for (;;) {
    const core::WaitEnd end = wait.rest(rest);
    const auto death = deaths.find();
    reply = shared_->try_run(request);
    if (reply && reply->is_ready) return std::move(*reply);
    if (end == core::WaitEnd::PeerFailed) core::throw_peer_failed("waiting for the key " + name, site);
    if (death) throw_awaited_death("waiting for the key " + name, *death, site);
    if (end == core::WaitEnd::Timeout)
      throw reply ? shared_->timeout(limit.timeout, request, site) : locked(limit.timeout, site);
    if (reply) rest = std::min(2 * rest, kLastRest);  // else the holder is about to release the lock
  }
}

Error FileStore::locked(base::Nanoseconds timeout, Location site) const {
  return Error(ErrorKind::Timeout, "DistStoreError",
               "wait timeout after " + base::human(timeout) + ": another process holds the lock of " + path(), site);
}

}  // namespace distrun::stores
