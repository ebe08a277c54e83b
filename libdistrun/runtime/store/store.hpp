#pragma once
// Keys and values that several ranks share: what rendezvous and process groups find each other by. Stores differ in
// where the table is (hash_store, file_store, tcp_store); what can be done with one is the same for all, and so are the
// rules (key_table.hpp) and limits: keys of 8 KiB, values of 8 MiB, 128 Ki keys.
//
// Any thread. Whatever waits, waits until the store's timeout is over unless told otherwise, shows itself on the rank's
// board, and ends when a rank fails. Errors:
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
// What became of a key: nothing, if it was or is not there.
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
  // Waits until the key is there.
  std::string get(const std::string& key, Location site = Location::here());
  // To the number that is there, in decimal digits, or to 0; returns what comes out.
  std::int64_t add(const std::string& key, std::int64_t number, Location site = Location::here());
  // Whether all are there by now.
  bool check(const std::vector<std::string>& keys, Location site = Location::here());
  // Until all are there.
  void wait(const std::vector<std::string>& keys, std::optional<base::Nanoseconds> timeout = {},
            Location site = Location::here());
  // Stores `desired` if the key has the value `expected`, or is not there and `expected` is empty. Returns what the key
  // has now; `expected`, if it is not there.
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired,
                          Location site = Location::here());
  // Behind the value that is there.
  void append(const std::string& key, const std::string& value, Location site = Location::here());
  // Waits until all are there. Values of more than 48 MiB in all are read one after the other.
  std::vector<std::string> multi_get(const std::vector<std::string>& keys, Location site = Location::here());
  void multi_set(const std::vector<KeyValue>& values, Location site = Location::here());
  // Whether it was there. Wakes nobody.
  bool delete_key(const std::string& key, Location site = Location::here());
  // Of the whole store, whatever the prefix.
  std::int64_t num_keys(Location site = Location::here());

  // Queues have names of their own beside the keys; check() and wait() know those that are not empty.
  void queue_push(const std::string& key, const std::string& value, Location site = Location::here());
  // Waits until there is something.
  std::string queue_pop(const std::string& key, std::optional<base::Nanoseconds> timeout = {},
                        Location site = Location::here());
  std::optional<std::string> try_queue_pop(const std::string& key, Location site = Location::here());
  std::int64_t queue_length(const std::string& key, Location site = Location::here());

  // From now on `watch` is called whenever the key's value is set, changed or deleted, in that order, one call after
  // the other, on the rank's handlers. Error{Unimplemented} of stores that nobody tells of changes.
  virtual void watch(const std::string& key, Watch watch);

 private:
  friend class PrefixStore;

  // The request, done. Throws at the deadline.
  virtual Reply run(const Request& request, base::TimePoint deadline, Location site) = 0;

  Reply ask(const Request& request, std::optional<base::Nanoseconds> timeout, Location site);

  std::atomic<std::int64_t> timeout_ns_{kTimeout.count()};
};

// A part of another store: its keys begin with `prefix` and a slash there. Throws Error{InvalidArgument} for a null
// one.
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
