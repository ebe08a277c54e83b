#include <distrun/runtime/store/store.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/request.hpp>

namespace distrun::stores {
namespace {

using base::Nanoseconds;
using base::TimePoint;

}  // namespace

Nanoseconds Store::timeout() const noexcept { return Nanoseconds(timeout_ns_.load()); }
void Store::set_timeout(Nanoseconds timeout) noexcept { timeout_ns_ = timeout.count(); }

Reply Store::ask(const Request& request, std::optional<Nanoseconds> timeout, Location site) {
  const Nanoseconds given = timeout.value_or(this->timeout());
  return run(request, {base::deadline_after(given), given}, site);
}

void Store::set(const std::string& key, const std::string& value, Location site) {
  ask({Op::Set, {key}, {value}, 0}, {}, site);
}

std::string Store::get(const std::string& key, Location site) {
  return std::move(ask({Op::Get, {key}, {}, 0}, {}, site).values.at(0));
}

std::int64_t Store::add(const std::string& key, std::int64_t number, Location site) {
  return ask({Op::Add, {key}, {}, number}, {}, site).number;
}

bool Store::check(const std::vector<std::string>& keys, Location site) {
  return ask({Op::Check, keys, {}, 0}, {}, site).number != 0;
}

void Store::wait(const std::vector<std::string>& keys, std::optional<Nanoseconds> timeout, Location site) {
  ask({Op::Wait, keys, {}, 0}, timeout, site);
}

std::string Store::compare_set(const std::string& key, const std::string& expected, const std::string& desired,
                               Location site) {
  return std::move(ask({Op::CompareSet, {key}, {expected, desired}, 0}, {}, site).values.at(0));
}

void Store::append(const std::string& key, const std::string& value, Location site) {
  ask({Op::Append, {key}, {value}, 0}, {}, site);
}

// Requests values that exceed the limit of one answer one by one: by then all keys exist.
std::vector<std::string> Store::multi_get(const std::vector<std::string>& keys, Location site) {
  try {
    return std::move(ask({Op::MultiGet, keys, {}, 0}, {}, site).values);
  } catch (const Error& refused) {
    if (refused.kind() != ErrorKind::Overloaded || keys.size() < 2) throw;
  }
  std::vector<std::string> values;
  for (const std::string& key : keys) values.push_back(get(key, site));
  return values;
}

void Store::multi_set(const std::vector<KeyValue>& values, Location site) {
  Request request{Op::MultiSet, {}, {}, 0};
  for (const auto& [key, value] : values) {
    request.keys.push_back(key);
    request.values.push_back(value);
  }
  ask(request, {}, site);
}

bool Store::delete_key(const std::string& key, Location site) {
  return ask({Op::Delete, {key}, {}, 0}, {}, site).number != 0;
}

std::int64_t Store::num_keys(Location site) { return ask({Op::NumKeys, {}, {}, 0}, {}, site).number; }

void Store::queue_push(const std::string& key, const std::string& value, Location site) {
  ask({Op::QueuePush, {key}, {value}, 0}, {}, site);
}

std::string Store::queue_pop(const std::string& key, std::optional<Nanoseconds> timeout, Location site) {
  return std::move(ask({Op::QueuePop, {key}, {}, 0}, timeout, site).values.at(0));
}

std::optional<std::string> Store::try_queue_pop(const std::string& key, Location site) {
  Reply reply = ask({Op::TryQueuePop, {key}, {}, 0}, {}, site);
  if (reply.values.empty()) return std::nullopt;
  return std::move(reply.values[0]);
}

std::int64_t Store::queue_length(const std::string& key, Location site) {
  return ask({Op::QueueLength, {key}, {}, 0}, {}, site).number;
}

void Store::watch(const std::string& key, Watch) {
  throw Error(ErrorKind::Unimplemented,
              "watch(\"" + key + "\"): this store does not report changes; use a TcpStore or a HashStore");
}

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
  if (store_ == nullptr) throw Error(ErrorKind::InvalidArgument, "PrefixStore \"" + prefix_ + "\": the store is null");
  set_timeout(store_->timeout());
}

void PrefixStore::watch(const std::string& key, Watch watch) { store_->watch(prefix_ + "/" + key, std::move(watch)); }

Reply PrefixStore::run(const Request& request, const WaitLimit& limit, Location site) {
  Request with_prefix = request;
  for (std::string& key : with_prefix.keys) key.insert(0, prefix_ + "/");
  return store_->run(with_prefix, limit, site);
}

}  // namespace distrun::stores
