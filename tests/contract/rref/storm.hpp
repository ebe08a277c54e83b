#pragma once
// A rank's part in a storm of references: it makes values here and there, shares references to them in every direction
// and in every wrapping, takes what others give, fetches and calls, and drops, all at random. What it holds is a pool,
// which its callees fill and empty, too.
//
// A value is a canary: it knows whether its end has come, and its number goes along with each reference to it, so that
// what comes of a reference is known to be right.
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
  // Throws Error{Failed} if its end has come.
  std::int64_t number() const;
  // In this process, of all ranks.
  static std::int64_t alive() noexcept { return alive_.load(); }

 private:
  static constexpr std::uint64_t kMagic = 0x5eed'ca9a'11fe'c0de;
  static std::atomic<std::int64_t> alive_;
  std::uint64_t magic_ = kMagic;
  std::int64_t number_;
};

// A reference, and what is at its end.
struct Known {
  RRef<Canary> ref;
  std::int64_t number = 0;
};
DISTRUN_FIELDS(Known, m.ref, m.number)

struct StormPlan {
  int world_size = 4;
  unsigned long seed = 1;
  int references = 1000;  // of this rank: made, or given to somebody
};

// While it is there, it is the storm of the calling thread's rank.
class Storm {
 public:
  // Does a part of it, and says whether the storm goes on; what goes wrong is its own business.
  using Attempt = std::function<bool(const char* what, const std::function<void()>& part)>;

  // An attempt that throws what the part throws.
  explicit Storm(StormPlan plan);
  Storm(StormPlan plan, Attempt attempt);
  ~Storm();
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  // All its steps, and then whatever they have left open.
  void run();
  void drop_all();
  std::vector<Known> held() const;

  // By callees.
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

// Nothing is held, made or on its way: "num_owner_rrefs 3", or nothing.
std::string left_over();
// Waits until nothing is, for as long as that; what is left over then.
std::string left_over_after(base::Nanoseconds limit);

}  // namespace distrun::rref::testing
