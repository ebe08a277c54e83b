// Random histories of an elastic group: workers join, leave with calls in flight, return in the same process or in
// another one, are killed and stopped, and run out of descriptors or memory, while all of them call each other. Every
// call ends in time, with its own answer from the worker that was called, or with an error that names that worker, or
// the shortage that the caller was in.
#include <catch2/catch.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <initializer_list>
#include <memory>
#include <optional>
#include <random>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "members.hpp"
#include "support/environment.hpp"
#include "support/limits.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;
using distrun::testing::number_of;

constexpr int kPlaces = 4;  // number of ids
constexpr unsigned long kHistorySeed = 20'261;
constexpr int kEvents = 60, kBurst = 12;
// Descriptors that are left to a short worker, less one: a connection takes up to 4, and joining some 10 more.
constexpr int kFew = 5, kFewToJoin = 16;
constexpr std::size_t kLittleBytes = 4 << 20, kBigBytes = 12 << 20;  // what a short worker may map; a big argument
constexpr int kBigBurst = 2;
constexpr double kCallSeconds = 2;
const base::Nanoseconds kJoinBound = distrun::testing::scaled(20s), kLeaveBound = distrun::testing::scaled(20s);

using Numbers = std::vector<std::int64_t>;

// Returns the call's number and the worker that ran it.
Numbers chaos_echo(std::int64_t token, std::int64_t rest_us) {
  ::usleep(static_cast<useconds_t>(rest_us));
  const WorkerInfo self = get_worker_info();
  return {token, self.id(), static_cast<std::int64_t>(self.incarnation())};
}
DISTRUN_RPC(chaos_echo)

Numbers chaos_big(std::int64_t token, const std::string& text) {
  return text.size() == kBigBytes ? chaos_echo(token, 0) : Numbers{-1, -1, -1};
}
DISTRUN_RPC(chaos_big)

class Dice {
 public:
  explicit Dice(unsigned long seed) : random_(static_cast<std::mt19937::result_type>(seed)) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 random_;
};

// A call. Its answer may arrive in a later session of the caller.
struct Asked {
  WorkerInfo worker;
  std::int64_t token = 0;
  future::Future<Numbers> answer;
  bool is_caller_short = false;  // at any time since the call
};

bool says(const std::string& text, std::initializer_list<const char*> any) {
  return std::any_of(any.begin(), any.end(), [&](const char* each) { return text.find(each) != text.npos; });
}

// Returns whether an error says that a process has run out of something.
bool says_shortage(const std::string& text) {
  return says(text, {"descriptors", "open files", "memory", "bad_alloc", "thread"});
}

std::string what_is_wrong(const Asked& asked) {
  try {
    const Numbers got = asked.answer.wait(distrun::testing::scaled(10s));
    const Numbers wanted{asked.token, asked.worker.id(), static_cast<std::int64_t>(asked.worker.incarnation())};
    if (got == wanted) return "";
    return "wrong answer of " + std::to_string(got.at(1)) + "#" + std::to_string(got.at(2)) + " to call " +
           std::to_string(got.at(0)) + ", wanted " + std::to_string(wanted[1]) + "#" + std::to_string(wanted[2]) +
           " to " + std::to_string(wanted[0]);
  } catch (const Error& error) {
    const std::string text = error.what() + error.remote_trace().value_or("");
    const bool is_known = error.kind() == ErrorKind::Disconnected || error.kind() == ErrorKind::Overloaded ||
                          (error.kind() == ErrorKind::Timeout && text.find("ran for more than set") != text.npos);
    // Once its name is forgotten, by its id.
    const bool is_named =
        says(text, {asked.worker.name().c_str(), ("worker " + std::to_string(asked.worker.id())).c_str()});
    if (is_known && is_named) return "";
    if (says_shortage(text) && (asked.is_caller_short || is_named)) return "";
    return "wrong error of a call to " + asked.worker.name() + ": " + text;
  } catch (const std::bad_alloc&) {
    return asked.is_caller_short ? "" : "a call to " + asked.worker.name() + " fails without memory";
  }
}

// This sanitizer opens a pipe to look at an object, and without descriptors reports every one as broken.
#ifdef DISTRUN_TEST_UNDEFINED_SANITIZER
constexpr bool kNeedsFiles = true;
#else
constexpr bool kNeedsFiles = false;
#endif

// A member of the group that executes orders.
class Wanderer {
 public:
  Wanderer(int id, const Post& post, std::string store, std::string transport, unsigned long seed)
      : id_(id), post_(post), store_(std::move(store)), transport_(std::move(transport)), dice_(seed) {}

  // Reports each failure.
  void run() {
    ::signal(SIGPIPE, SIG_DFL);  // the conductor ignores it
    distrun::testing::use_stack();
    const std::string came = what_comes_of([this] { wander(); });
    if (came != "done") post_.tell("wrong end: " + came);
    post_.tell("end");
  }

 private:
  void wander() {
    join();
    for (char order = post_.wait(); order != 'e'; order = post_.wait()) {
      if (order == 'b') burst();
      if (order == 'B') big_burst();
      if (order == 'f') have_few_files(kFew);
      if (order == 'm') have_little_memory();
      if (order == 'n') be_short_of_nothing();
      if (order == 'c') be_short_of_nothing(), check_asked();
      if (order == 'l') come_back();
      if (order == 's') be_short_of_nothing(), leave(dice_.below(2) == 0), join_short();
    }
    be_short_of_nothing();
    check_asked();
    leave(true);
  }
  void in_time(const char* what, base::Nanoseconds bound, const std::function<void()>& body) {
    const base::TimePoint begin = base::system_clock().now();
    const std::string came = what_comes_of(body);
    const auto took = base::system_clock().now() - begin;
    if (came != "done") post_.tell(std::string("wrong ") + what + ": " + came);
    if (took > bound) post_.tell(std::string("late ") + what + ": " + std::to_string(took / 1ms) + " ms");
  }
  void begin_session() {
    auto options = std::make_shared<PipeOptions>();
    options->init_timeout = 25;
    options->transports = {transport_};
    options->store = std::make_shared<FileStore>(store_);
    init_rpc({"worker" + std::to_string(id_), find_backend("pipe"), id_, {}, options});
  }
  // A member that is short may refuse it until that has passed.
  void join() {
    in_time("join", kJoinBound, [&] {
      for (const base::TimePoint until = in(kJoinBound);;) {
        try {
          return begin_session();
        } catch (const Error& why) {
          if (!says_shortage(why.what()) || base::system_clock().now() >= until) throw;
        }
      }
    });
  }
  // Joins with few descriptors, or fails without them and joins without a shortage.
  void join_short() {
    std::string came;
    in_time("join in a shortage", kJoinBound, [&] {
      have_few_files(kFewToJoin);
      came = what_comes_of([&] { begin_session(); });
    });
    if (came == "done") return;
    be_short_of_nothing();
    if (!says_shortage(came)) post_.tell("wrong join in a shortage: " + came);
    join();
  }
  // Calls in flight continue, and are checked in the next session.
  void leave(bool is_graceful) {
    in_time("leave", kLeaveBound, [&] { shut_down(is_graceful); });
  }
  // In a shortage that may fail; then again without one.
  void shut_down(bool is_graceful) {
    try {
      rpc::shutdown({.graceful = is_graceful, .timeout = 15});
    } catch (const std::exception& why) {
      if (!is_short() || !says_shortage(why.what())) throw;
      be_short_of_nothing();
      (void)what_comes_of([] { rpc::shutdown({.graceful = false, .timeout = 15}); });  // unless it is over
    }
  }
  void come_back() {
    if (dice_.below(2) == 0) be_short_of_nothing();
    leave(dice_.below(2) == 0);
    be_short_of_nothing();
    join();
  }
  void burst() {
    for (int i = 0; i < kBurst; ++i) {
      const std::int64_t rest_us = dice_.below(4) == 0 ? dice_.below(20'000) : 0;
      ask([&](const WorkerInfo& to, std::int64_t token) {
        return rpc_async<Numbers>(rpc::to(to).within(kCallSeconds), "chaos_echo", token, rest_us);
      });
    }
  }
  void big_burst() {
    if (is_short()) return;
    const std::string text(kBigBytes, 'x');
    for (int i = 0; i < kBigBurst; ++i) {
      ask([&](const WorkerInfo& to, std::int64_t token) {
        return rpc_async<Numbers>(rpc::to(to).within(kCallSeconds), "chaos_big", token, text);
      });
    }
  }
  // Asks any member.
  template <class Call>
  void ask(const Call& call) {
    try {
      const std::vector<WorkerInfo> all = get_worker_infos();
      const WorkerInfo& to = all[static_cast<std::size_t>(dice_.below(static_cast<int>(all.size())))];
      const std::int64_t token = (static_cast<std::int64_t>(::getpid()) << 20) + ++last_token_;
      asked_.push_back({to, token, call(to, token), is_short()});
    } catch (const std::bad_alloc&) {
      if (!is_short()) throw;
    } catch (const Error& why) {
      if (!is_short() || !says_shortage(why.what())) throw;
    }
  }
  bool is_short() const { return files_.has_value() || memory_.has_value(); }
  // Up to the next order that ends it.
  void have_few_files(int below) {
    if (kNeedsFiles) return;
    be_short_of_nothing();  // to know what it has mapped it opens a file
    files_.emplace(dice_.below(below));
    for (Asked& each : asked_) each.is_caller_short = true;
  }
  void have_little_memory() {
    be_short_of_nothing();
    memory_.emplace(kLittleBytes);
    for (Asked& each : asked_) each.is_caller_short = true;
  }
  void be_short_of_nothing() { files_.reset(), memory_.reset(); }
  void check_asked() {
    for (const Asked& each : asked_) {
      const std::string wrong = what_is_wrong(each);
      if (!wrong.empty()) post_.tell(wrong);
    }
    asked_.clear();
  }

  const int id_;
  const Post& post_;
  const std::string store_, transport_;
  Dice dice_;
  std::int64_t last_token_ = 0;
  std::vector<Asked> asked_;
  std::optional<distrun::testing::FewFiles> files_;
  std::optional<distrun::testing::LittleMemory> memory_;
};

// Runs in a separate process without threads.
class History {
 public:
  History(unsigned long seed, std::string folder)
      : dice_(seed), seed_(seed), store_(folder + "/store"), transport_(std::array{"shm", "uds", "tcp"}[seed % 3]) {}

  Lines run() {
    ::signal(SIGPIPE, SIG_IGN);  // a member may have ended before it gets an order: its end is reported
    for (int id = 0; id < kPlaces; ++id) start(id);
    for (int event = 0; event < kEvents; ++event) {
      happen(dice_.below(kPlaces));
      (void)::poll(nullptr, 0, dice_.below(25));
    }
    for (int id = 0; id < kPlaces; ++id) end(id);
    return std::move(told_);
  }

 private:
  std::unique_ptr<Member>& at(int id) { return places_[static_cast<std::size_t>(id)]; }
  std::string prefix(int id) const { return "worker" + std::to_string(id) + ": "; }

  void start(int id) {
    const unsigned long seed = seed_ * 1'000'003 + ++started_;
    at(id) = std::make_unique<Member>(
        [&, id, seed](const Post& post) { Wanderer(id, post, store_, transport_, seed).run(); });
  }
  void happen(int id) {
    if (at(id) == nullptr) return start(id);
    switch (dice_.below(13)) {
      case 0: return kill(id);
      case 1: return stop_for_a_while(id);
      case 2: return at(id)->go_on('l');
      case 3: return end(id);
      case 4: return at(id)->go_on('c');
      case 5: return be_short(id, 'f', 'b');
      case 6: return at(id)->go_on('s');
      case 7: return base::kSanitized ? at(id)->go_on('b') : be_short(id, 'm', 'B');  // sanitizers map terabytes
      default: return at(id)->go_on('b');
    }
  }
  // Reports the victim's lines before its death.
  void kill(int id) {
    if (const std::string before = at(id)->end(); !before.empty()) told_.push_back(prefix(id) + before);
    ::kill(at(id)->pid(), SIGKILL);
    at(id)->lines_up_to("end", prefix(id), told_);
    at(id) = nullptr;
  }
  void stop_for_a_while(int id) {
    ::kill(at(id)->pid(), SIGSTOP);
    order_others(id, 'b');
    (void)::poll(nullptr, 0, 20 + dice_.below(200));
    ::kill(at(id)->pid(), SIGCONT);
  }
  void be_short(int id, char of_what, char others) {
    at(id)->go_on(of_what);
    order_others(id, others);
    at(id)->go_on('b');
  }
  void order(int id, char what) {
    if (at(id) != nullptr) at(id)->go_on(what);
  }
  void order_others(int id, char what) {
    for (int other = 0; other < kPlaces; ++other) {
      if (other != id) order(other, what);
    }
  }
  void end(int id) {
    if (at(id) == nullptr) return;
    order_others(id, 'n');  // it may still join, for which they need descriptors
    at(id)->go_on('e');
    if (!at(id)->lines_up_to("end", prefix(id), told_)) {
      told_.push_back(prefix(id) + "has not come to its end: " + at(id)->end());
    }
    at(id) = nullptr;
  }

  Dice dice_;
  const unsigned long seed_;
  const std::string store_, transport_;
  unsigned long started_ = 0;
  std::array<std::unique_ptr<Member>, kPlaces> places_;
  Lines told_;
};

}  // namespace

TEST_CASE(
    "in any order of workers that join, leave, die and return, each call gets its own answer or the right error") {
  const unsigned long seed = number_of("DISTRUN_CHAOS_SEED", kHistorySeed);
  const unsigned long count = number_of("DISTRUN_ELASTIC_HISTORIES", base::kSanitized ? 2 : 6);
  const distrun::testing::Scratch scratch;
  std::vector<std::function<Lines()>> cells;
  for (unsigned long i = 0; i < count; ++i) {
    cells.emplace_back(
        [&scratch, each = seed + i, i] { return History(each, scratch.directory(std::to_string(i))).run(); });
  }
  const std::vector<Lines> told = conduct(cells, 2);
  for (unsigned long i = 0; i < count; ++i) {
    std::string all;
    for (const std::string& each : told[i]) all += "\n  " + each;
    INFO("repeat it: DISTRUN_CHAOS_SEED=" << seed + i << " DISTRUN_ELASTIC_HISTORIES=1 build/bin/contract_rpc_chaos "
                                          << "'in any order of workers*'" << all);
    CHECK(told[i].empty());
  }
}

}  // namespace distrun::rpc::testing
