#pragma once
// Keys and values that ranks share: rendezvous and process groups use them to find each other. Stores differ in where
// the table is (hash_store, file_store, tcp_store); operations, rules (key_table.hpp) and limits are the same for all:
// keys of 8 KiB, values of 8 MiB, 128 Ki keys.
//
// Any thread. A function that waits uses the store's timeout unless it has a timeout argument, shows its wait on the
// rank's board, and ends when a rank fails. Errors:
//
//   Error{Timeout, "DistStoreError"}    "wait timeout after 100 ms, keys: a, b": those that are still missing
//   Error{InvalidArgument}              what was asked can't be done: add() to a value that is no number
//   Error{Overloaded}                   beyond a limit
//   Error{Disconnected}                 the table is gone, with its server
//   Error{Unimplemented}                this store can't do that
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun::stores {

struct Request;  // request.hpp
struct Reply;

using KeyValue = std::pair<std::string, std::string>;
// Values of a key before and after a change; nothing: the key does not exist.
using Watch = std::function<void(std::optional<std::string> before, std::optional<std::string> after)>;

class Store {
 public:
  using Location = base::Location;

  static constexpr base::Nanoseconds kTimeout = std::chrono::seconds(300);

  Store() = default;
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  base::Nanoseconds timeout() const noexcept;
  void set_timeout(base::Nanoseconds timeout) noexcept;

  void set(const std::string& key, const std::string& value, Location site = Location::here());
  // Waits until the key exists.
  std::string get(const std::string& key, Location site = Location::here());
  // Adds to the key's value, a decimal number, or to 0 if the key does not exist; returns the sum.
  std::int64_t add(const std::string& key, std::int64_t number, Location site = Location::here());
  // Returns whether all keys exist now.
  bool check(const std::vector<std::string>& keys, Location site = Location::here());
  // Waits until all keys exist.
  void wait(const std::vector<std::string>& keys, std::optional<base::Nanoseconds> timeout = {},
            Location site = Location::here());
  // Stores `desired` if the key has the value `expected`, or does not exist and `expected` is empty. Returns the key's
  // value afterwards; `expected` if the key does not exist.
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired,
                          Location site = Location::here());
  // Appends to the key's value.
  void append(const std::string& key, const std::string& value, Location site = Location::here());
  // Waits until all keys exist. Values of more than 48 MiB in all are read one after the other.
  std::vector<std::string> multi_get(const std::vector<std::string>& keys, Location site = Location::here());
  void multi_set(const std::vector<KeyValue>& values, Location site = Location::here());
  // Returns whether the key existed. Does not wake waiting calls.
  bool delete_key(const std::string& key, Location site = Location::here());
  // Counts the keys of the whole store, also in a PrefixStore.
  std::int64_t num_keys(Location site = Location::here());

  // Queue names are separate from keys; check() and wait() also accept names of queues that are not empty.
  void queue_push(const std::string& key, const std::string& value, Location site = Location::here());
  // Waits until the queue has an element.
  std::string queue_pop(const std::string& key, std::optional<base::Nanoseconds> timeout = {},
                        Location site = Location::here());
  std::optional<std::string> try_queue_pop(const std::string& key, Location site = Location::here());
  std::int64_t queue_length(const std::string& key, Location site = Location::here());

  // Calls `watch` from now on whenever the key's value is set, changed or deleted: in that order, one call after the
  // other, on the rank's handlers. Throws Error{Unimplemented} if the store cannot watch keys.
  virtual void watch(const std::string& key, Watch watch);

 private:
  friend class PrefixStore;

  // Performs the request. Throws at the deadline.
  virtual Reply run(const Request& request, base::TimePoint deadline, Location site) = 0;

  Reply ask(const Request& request, std::optional<base::Nanoseconds> timeout, Location site);

  std::atomic<std::int64_t> timeout_ns_{kTimeout.count()};
};

// A part of another store, where its keys begin with `prefix` and a slash. Throws Error{InvalidArgument} for a null
// store.
class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  void watch(const std::string& key, Watch watch) override;

 private:
  Reply run(const Request& request, base::TimePoint deadline, Location site) override;

  const std::string prefix_;
  const std::shared_ptr<Store> store_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::PrefixStore;
using stores::Store;
}  // namespace distrun
