#pragma once
// The table behind a store: the only place with the rules of what each request does. Not thread-safe.
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/store_server/request.hpp>

namespace distrun::stores {

inline constexpr std::size_t kKeySize = std::size_t{8} * 1024;
inline constexpr std::size_t kValueSize = std::size_t{8} * 1024 * 1024;
inline constexpr std::size_t kKeys = std::size_t{128} * 1024;     // including queues
inline constexpr std::size_t kReplySize = std::size_t{48} << 20;  // values of one answer, which must fit into a frame
inline constexpr std::size_t kTableSize = std::size_t{1} << 30;

// A key with a value that was set, changed or deleted.
struct Change {
  std::string key;
  std::optional<std::string> before;
  std::optional<std::string> after;
};

// Returns "wait timeout after 100 ms, keys: a, b": the text of an Error{Timeout, "DistStoreError"}.
std::string timeout_text(base::Nanoseconds timeout, const std::vector<std::string>& missing);

class KeyTable {
 public:
  // Performs the request, or does nothing and returns a Reply that is not ready if a key is missing. Throws
  // Error{InvalidArgument, Overloaded} and std::bad_alloc without having done anything. Appends what happened to keys
  // to `changes` if that is not null.
  Reply run(const Request& request, std::vector<Change>* changes = nullptr);
  // Counts changes: a request that leaves this as it was has changed nothing.
  std::uint64_t changed() const noexcept { return changed_; }
  // Calls `visit` with requests that build this table from an empty one, each of at most 64 KiB and one value.
  void snapshot(const std::function<void(const Request&)>& visit) const;
  // Returns an estimate of the bytes of those requests, rather too high than too low.
  std::size_t snapshot_bytes() const noexcept { return bytes_ + key_bytes_; }
  // Returns the keys of the request that do not exist.
  std::vector<std::string> missing(const Request& request) const;
  // Returns the same as text for errors: "stepp (did you mean step?)".
  std::vector<std::string> named_missing(const Request& request) const;

 private:
  bool has(const std::string& key) const;
  void snapshot_values(const std::function<void(const Request&)>& visit) const;
  static void snapshot_queue(const std::string& key, const std::deque<std::string>& queue,
                             const std::function<void(const Request&)>& visit);
  void check_room(const Request& request) const;
  using Values = std::map<std::string, std::string, std::less<>>;
  // A new value of a key, with all the memory that storing it needs.
  struct Prepared {
    Values::node_type node;
    std::optional<Change> change;
  };
  static Prepared prepare(const std::string& key, std::string value, bool is_told);
  void put(Prepared prepared, std::vector<Change>* changes) noexcept;
  void put_all(const Request& request, std::vector<Change>* changes);
  Reply values_of(const std::vector<std::string>& keys) const;
  Reply compare_set(const Request& request, std::vector<Change>* changes);
  std::int64_t add(const Request& request, std::vector<Change>* changes);
  bool remove(const std::string& key, std::vector<Change>* changes);
  void append(const std::string& key, const std::string& value, std::vector<Change>* changes);
  void push(const std::string& key, const std::vector<std::string>& values);
  Reply pop(const std::string& key);
  std::int64_t length(const std::string& key) const;

  Values values_;
  std::map<std::string, std::deque<std::string>, std::less<>> queues_;  // none is empty
  std::size_t bytes_ = 0;                                               // of all values, also in queues
  std::size_t key_bytes_ = 0;
  std::uint64_t changed_ = 0;
};

}  // namespace distrun::stores
