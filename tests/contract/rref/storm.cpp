#include "storm.hpp"

#include <poll.h>

#include <array>
#include <atomic>
#include <map>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/rref/references.hpp>

namespace distrun::rref::testing {
namespace {

constexpr std::size_t kHeld = 48, kLater = 64, kWraps = 12;

std::array<std::atomic<Storm*>, 8>& storms() {
  static std::array<std::atomic<Storm*>, 8> storms{};
  return storms;
}
Storm& storm_here() {
  Storm* const storm = storms().at(static_cast<std::size_t>(rpc::get_worker_info().id())).load();
  if (storm == nullptr) throw Error(ErrorKind::Failed, "the storm is over here");
  return *storm;
}

const auto canary = rpc::RegisterClass<Canary>("StormCanary")
                        .constructor<std::int64_t>({"number"})
                        .method("number", &Canary::number)
                        .by_value([](const Canary& object) { return object.number(); },
                                  [](std::int64_t number) { return Canary(number); });

void expect(const Known& known, std::int64_t number, const char* what) {
  if (number == known.number) return;
  throw Error(ErrorKind::Failed, std::string(what) + " of " + known.ref.text() + " is that of another: " +
                                     std::to_string(number) + ", not " + std::to_string(known.number));
}

using Deep = std::map<std::string, std::vector<Known>>;

void storm_take(const std::vector<Known>& given) {
  for (const Known& each : given) storm_here().keep(each);
}
DISTRUN_RPC(storm_take)
void storm_take_deep(const Deep& given) {
  for (const auto& [name, list] : given) storm_take(list);
}
DISTRUN_RPC(storm_take_deep)
std::vector<Known> storm_give(int most) { return storm_here().give(most); }
DISTRUN_RPC(storm_give)
Known storm_wrap(const Known& given) { return given; }
DISTRUN_RPC(storm_wrap)
std::int64_t storm_fetch(const Known& given) { return given.ref.to_here()->number(); }
DISTRUN_RPC(storm_fetch)

}  // namespace

std::atomic<std::int64_t> Canary::alive_{0};

Canary::~Canary() {
  *const_cast<volatile std::uint64_t*>(&magic_) = 0;
  --alive_;
}

std::int64_t Canary::number() const {
  if (*const_cast<const volatile std::uint64_t*>(&magic_) != kMagic) {
    throw Error(ErrorKind::Failed, "a value is used after its end");
  }
  return number_;
}

Storm::Storm(StormPlan plan)
    : Storm(plan, [](const char*, const std::function<void()>& part) { return part(), true; }) {}

Storm::Storm(StormPlan plan, Attempt attempt)
    : plan_(plan),
      attempt_(std::move(attempt)),
      self_(rpc::get_worker_info().id()),
      random_(static_cast<std::mt19937::result_type>(plan.seed * 1'000'003 + static_cast<unsigned long>(self_))) {
  storms().at(static_cast<std::size_t>(self_)) = this;
}

Storm::~Storm() { storms().at(static_cast<std::size_t>(self_)) = nullptr; }

void Storm::run() {
  while (goes_on_ && references_ < plan_.references) step();
  settle(0);
}

void Storm::step() {
  struct Part {
    const char* name;
    void (Storm::*run)();
  };
  static constexpr Part kParts[] = {
      {"make here", &Storm::make_here},
      {"make there", &Storm::make_there},
      {"make there and share", &Storm::make_there_and_share},
      {"share", &Storm::share},
      {"share", &Storm::share},
      {"share many", &Storm::share_many},
      {"share deep", &Storm::share_deep},
      {"share to be fetched", &Storm::share_to_be_fetched},
      {"take", &Storm::take},
      {"fetch", &Storm::fetch},
      {"fetch later", &Storm::fetch_later},
      {"call a method", &Storm::call_method},
      {"call a method there", &Storm::call_method_there},
      {"wrap", &Storm::wrap},
      {"unwrap", &Storm::unwrap},
      {"ask for the type", &Storm::ask_type},
      {"drop some", &Storm::drop_some},
  };
  const Part& part = kParts[below(static_cast<int>(std::size(kParts)))];
  goes_on_ = attempt_(part.name, [&] { (this->*part.run)(); });
  settle(kLater);
}

void Storm::settle(std::size_t most) {
  while (later_.size() > most) {
    const Later first = std::move(later_.front());
    later_.pop_front();
    goes_on_ &= attempt_(first.what, first.wait);
  }
}

template <class Future>
void Storm::later(const char* what, Future future) {
  later_.push_back({what, [future] { future.wait(); }});
}

int Storm::below(int limit) {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(random_() % static_cast<unsigned>(limit));
}

rpc::Destination Storm::anybody() { return rpc::Destination(below(plan_.world_size)); }

void Storm::keep(Known known) {
  const std::lock_guard lock(mutex_);
  if (known_.size() < kHeld) return known_.push_back(std::move(known));
  std::swap(known_[random_() % known_.size()], known);  // destroys the other after the lock is released
}

std::vector<Known> Storm::held() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

std::vector<Known> Storm::give(int most) {
  std::vector<Known> given;
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < most && !known_.empty(); ++i) given.push_back(known_[random_() % known_.size()]);
  return given;
}

Known Storm::any_held() {
  auto given = give(1);
  if (!given.empty()) return given.front();
  make_here();
  return any_held();
}

void Storm::drop_all() {
  std::vector<Known> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(known_);
  }
  wraps_.clear();
  later_.clear();
}

void Storm::make_here() {
  const std::int64_t number = next_number();
  ++references_;
  keep({RRef<Canary>(std::make_shared<Canary>(number)), number});
}

void Storm::make_there() {
  const std::int64_t number = next_number();
  ++references_;
  keep({remote<Canary>(anybody(), "StormCanary", number), number});
}

// Shares the reference before its owner can have confirmed it.
void Storm::make_there_and_share() {
  const std::int64_t number = next_number();
  references_ += 2;
  const Known made{remote<Canary>(anybody(), "StormCanary", number), number};
  later("make there and share", rpc_async(anybody(), storm_take, std::vector<Known>{made}));
  if (below(2) == 0) keep(made);
}

void Storm::share() {
  ++references_;
  later("share", rpc_async(anybody(), storm_take, std::vector<Known>{any_held()}));
}

void Storm::share_many() {
  references_ += 4;
  const Known twice = any_held();
  later("share many", rpc_async(anybody(), storm_take, std::vector<Known>{any_held(), twice, any_held(), twice}));
}

void Storm::share_deep() {
  references_ += 3;
  const Deep deep{{"one", {any_held()}}, {"two", {any_held(), any_held()}}, {"none", {}}};
  later("share deep", rpc_async(anybody(), storm_take_deep, deep));
}

void Storm::share_to_be_fetched() {
  ++references_;
  const Known known = any_held();
  const auto number = rpc_async(anybody(), storm_fetch, known);
  later_.push_back(
      {"share to be fetched", [known, number] { expect(known, number.wait(), "the value, fetched there,"); }});
}

void Storm::take() {
  for (const Known& each : rpc_sync(anybody(), storm_give, 1 + below(3))) {
    ++references_;
    keep(each);
  }
}

void Storm::fetch() {
  const Known known = any_held();
  expect(known, known.ref.to_here()->number(), "the value");
  if (known.ref.is_owner()) expect(known, known.ref.local_value()->number(), "the local value");
}

void Storm::fetch_later() {
  const Known known = any_held();
  const auto value = known.ref.to_here_async();
  later_.push_back({"fetch later", [known, value] { expect(known, value.wait()->number(), "the value, later,"); }});
}

void Storm::call_method() {
  const Known known = any_held();
  if (below(2) == 0) return expect(known, known.ref.rpc_sync(&Canary::number), "the number");
  const auto number = known.ref.rpc_async(&Canary::number);
  later_.push_back({"call a method", [known, number] { expect(known, number.wait(), "the number, later,"); }});
}

void Storm::call_method_there() {
  ++references_;
  const Known known = any_held();
  expect(known, known.ref.remote(&Canary::number).to_here(), "the number, kept there,");
}

// Creates a value that contains a reference.
void Storm::wrap() {
  references_ += 2;
  RRef<Known> wrap = remote(anybody(), storm_wrap, any_held());
  if (wraps_.size() < kWraps) return wraps_.push_back(std::move(wrap));
  wraps_[static_cast<std::size_t>(below(kWraps))] = std::move(wrap);
}

void Storm::unwrap() {
  if (wraps_.empty()) return;
  ++references_;
  const Known known = wraps_[static_cast<std::size_t>(below(static_cast<int>(wraps_.size())))].to_here();
  if (below(2) == 0) expect(known, known.ref.to_here()->number(), "the value that was wrapped");
  keep(known);
}

void Storm::ask_type() {
  const Known known = any_held();
  if (known.ref.type() != "StormCanary") throw Error(ErrorKind::Failed, "the type is " + known.ref.type());
}

void Storm::drop_some() {
  std::vector<Known> dropped;
  const std::lock_guard lock(mutex_);
  while (!known_.empty() && dropped.size() < 8) {
    std::swap(known_[random_() % known_.size()], known_.back());
    dropped.push_back(std::move(known_.back()));
    known_.pop_back();
  }
}

std::string left_over() {
  std::string text;
  for (const auto& [key, value] : debug_info()) {
    if (value != "0") text += key + " " + value + " ";
  }
  const ledger::Page page = current_references()->page(4);
  if (page.owned != 0) text += "values " + std::to_string(page.owned) + " ";
  if (page.held != 0) text += "forks held " + std::to_string(page.held) + " ";
  return text;
}

std::string left_over_after(base::Nanoseconds limit) {
  std::string text = left_over();
  for (const base::TimePoint until = base::system_clock().now() + limit;
       !text.empty() && base::system_clock().now() < until; text = left_over()) {
    (void)::poll(nullptr, 0, 2);
  }
  return text;
}

}  // namespace distrun::rref::testing
