#pragma once
// A rank's part in a storm of references: at random it creates values on any rank, shares references in every direction
// and in every wrapping, accepts references from others, fetches, calls, and drops. It holds a pool of references,
// which its callees fill and empty, too.
//
// A value is a canary: it detects use after its destruction. Each reference carries the value's number, so that results
// can be checked.
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <distrun/runtime/rref/rref.hpp>

namespace distrun::rref::testing {

class Canary {
 public:
  explicit Canary(std::int64_t number) : number_(number) { ++alive_; }
  Canary(const Canary& other) : number_(other.number()) { ++alive_; }
  ~Canary();
  Canary& operator=(const Canary&) = delete;
  // Throws Error{Failed} if it was destroyed.
  std::int64_t number() const;
  // Returns the number of live values in this process, of all ranks.
  static std::int64_t alive() noexcept { return alive_.load(); }

 private:
  static constexpr std::uint64_t kMagic = 0x5eed'ca9a'11fe'c0de;
  static std::atomic<std::int64_t> alive_;
  std::uint64_t magic_ = kMagic;
  std::int64_t number_;
};

// A reference, and the number of its value.
struct Known {
  RRef<Canary> ref;
  std::int64_t number = 0;
};
DISTRUN_FIELDS(Known, m.ref, m.number)

struct StormPlan {
  int world_size = 4;
  unsigned long seed = 1;
  int references = 1000;  // created or shared by this rank
};

// While it exists, it is the storm of the calling thread's rank.
class Storm {
 public:
  // Runs a part and returns whether the storm goes on; handles the part's exceptions.
  using Attempt = std::function<bool(const char* what, const std::function<void()>& part)>;

  // Exceptions of a part propagate.
  explicit Storm(StormPlan plan);
  Storm(StormPlan plan, Attempt attempt);
  ~Storm();
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  // Runs all steps, then completes pending operations.
  void run();
  void drop_all();
  std::vector<Known> held() const;

  // Called by callees.
  void keep(Known known);
  std::vector<Known> give(int most);

 private:
  struct Later {
    const char* what;
    std::function<void()> wait;
  };

  void step();
  void make_here();
  void make_there();
  void make_there_and_share();
  void share();
  void share_many();
  void share_deep();
  void share_to_be_fetched();
  void take();
  void fetch();
  void fetch_later();
  void call_method();
  void call_method_there();
  void wrap();
  void unwrap();
  void ask_type();
  void drop_some();

  int below(int limit);
  rpc::Destination anybody();
  Known any_held();
  std::int64_t next_number() { return (static_cast<std::int64_t>(self_) << 40) | ++numbers_; }
  template <class Future>
  void later(const char* what, Future future);
  void settle(std::size_t most);

  const StormPlan plan_;
  const Attempt attempt_;
  const int self_;
  int references_ = 0;
  std::int64_t numbers_ = 0;
  bool goes_on_ = true;
  std::deque<Later> later_;
  std::vector<RRef<Known>> wraps_;
  mutable std::mutex mutex_;
  std::mt19937 random_;       // guarded by mutex_
  std::vector<Known> known_;  // guarded by mutex_
};

// Returns what is still held, being created or in flight, as "num_owner_rrefs 3"; empty: nothing.
std::string left_over();
// Waits up to `limit` until nothing is left over; returns what is left then.
std::string left_over_after(base::Nanoseconds limit);

}  // namespace distrun::rref::testing
