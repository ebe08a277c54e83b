#pragma once
// Keys and values that several ranks share, by which rendezvous and process groups find each other. Stores differ in
// the place of the table (hash_store, file_store, tcp_store); functions, rules (key_table.hpp) and limits are the same:
// keys of 8 KiB, values of 8 MiB, 128 Ki keys.
//
// Thread-safe. Functions that wait have the store's timeout unless another is given, are recorded as waits on the
// rank's board, and end when a rank fails. Errors:
//
//   Error{Timeout, "DistStoreError"}    "wait timeout after 100 ms, keys: a, b": the missing ones
//   Error{InvalidArgument}              the request is impossible: add() to a value that is not a number
//   Error{Overloaded}                   a limit is exceeded
//   Error{Disconnected}                 the server is gone
//   Error{Unimplemented}                this store does not support the function
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

using KeyValue = std::pair<std::string, std::string>;  // a key and its value
// Called with the value of a key before and after a change; nullopt: the key did not or does not exist.
using Watch = std::function<void(std::optional<std::string> before, std::optional<std::string> after)>;

// Until when a request waits for keys, and the timeout that its error names.
struct WaitLimit {
  base::TimePoint deadline;   // when the wait ends without the keys
  base::Nanoseconds timeout;  // as the caller gave it
};

// A table of keys and values; see the top of this header.
class Store {
 public:
  using Location = base::Location;  // the caller's line, for errors and waits

  static constexpr base::Nanoseconds kTimeout = std::chrono::seconds(300);  // the default

  Store() = default;
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  base::Nanoseconds timeout() const noexcept;            // of functions that wait
  void set_timeout(base::Nanoseconds timeout) noexcept;  // for later calls

  // creates or replaces the key
  void set(const std::string& key, const std::string& value, Location site = Location::here());
  // Blocks until the key exists, and returns its value.
  std::string get(const std::string& key, Location site = Location::here());
  // Adds to the number that the key has, in decimal digits, or to 0; returns the sum. Atomic.
  std::int64_t add(const std::string& key, std::int64_t number, Location site = Location::here());
  // Returns whether all keys exist now.
  bool check(const std::vector<std::string>& keys, Location site = Location::here());
  // Blocks until all keys exist.
  void wait(const std::vector<std::string>& keys, std::optional<base::Nanoseconds> timeout = {},
            Location site = Location::here());
  // Stores `desired` if the key has the value `expected`, or does not exist and `expected` is empty. Returns the
  // present value; `expected` if the key does not exist. Atomic.
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired,
                          Location site = Location::here());
  // Appends to the value that the key has, or creates it.
  void append(const std::string& key, const std::string& value, Location site = Location::here());
  // Blocks until all keys exist, and returns their values. Values of more than 48 MiB together are read one after the
  // other.
  std::vector<std::string> multi_get(const std::vector<std::string>& keys, Location site = Location::here());
  // Sets several keys at once.
  void multi_set(const std::vector<KeyValue>& values, Location site = Location::here());
  // Deletes a key and returns whether it existed. Does not end waits.
  bool delete_key(const std::string& key, Location site = Location::here());
  // Returns the number of keys and queues in the whole store, regardless of a prefix.
  std::int64_t num_keys(Location site = Location::here());

  // Appends to a queue. Queues have separate names beside the keys; check() and wait() see queues that are not empty.
  void queue_push(const std::string& key, const std::string& value, Location site = Location::here());
  // Blocks until the queue has an entry, and takes the first.
  std::string queue_pop(const std::string& key, std::optional<base::Nanoseconds> timeout = {},
                        Location site = Location::here());
  std::optional<std::string> try_queue_pop(const std::string& key, Location site = Location::here());  // nullopt: empty
  std::int64_t queue_length(const std::string& key, Location site = Location::here());  // 0 if it does not exist

  // Calls `watch` whenever the key's value is set, changed or deleted from now on: in that order, one call after the
  // other, on the rank's handler threads. Throws Error{Unimplemented} for stores that are not notified of changes.
  virtual void watch(const std::string& key, Watch watch);

 private:
  friend class PrefixStore;

  // Executes the request. Throws at the deadline.
  virtual Reply run(const Request& request, const WaitLimit& limit, Location site) = 0;

  Reply ask(const Request& request, std::optional<base::Nanoseconds> timeout, Location site);

  std::atomic<std::int64_t> timeout_ns_{kTimeout.count()};
};

// A part of another store, in which its keys begin with `prefix` and a slash.
class PrefixStore final : public Store {
 public:
  // Throws Error{InvalidArgument} if `store` is null.
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  void watch(const std::string& key, Watch watch) override;

 private:
  Reply run(const Request& request, const WaitLimit& limit, Location site) override;

  const std::string prefix_;
  const std::shared_ptr<Store> store_;
};

}  // namespace distrun::stores

namespace distrun {
using stores::PrefixStore;
using stores::Store;
}  // namespace distrun
