// A peer that sends arbitrary well-formed messages must not take away what others hold.
#include <random>

#include "reference_ranks.hpp"

namespace distrun::rref {
namespace {

using Number = RRef<std::int64_t>;
Number& kept_by_2() {
  static auto* const kept = new Number;
  return *kept;
}
void hostile_keep(const Number& ref) { kept_by_2() = ref; }
DISTRUN_RPC(hostile_keep)
std::int64_t hostile_seven(std::int64_t) { return 7; }
DISTRUN_RPC(hostile_seven)

const WorkerInfo kHostile("worker1", 1);

// Sends messages with real or almost real ids.
class Liar {
 public:
  explicit Liar(unsigned seed) : random_(seed) {}
  void say_something() {
    const auto references = current_references();
    const RRefId r{below(4), below(12) - 1};
    const ForkId f{below(4), below(12) - 1};
    switch (below(4)) {
      case 0: {
        wire::Encoder section;
        section(r), section(f), section(std::string("nowhere"));
        return references->begin_result(kHostile, section.take())->set(Value(std::int64_t{8}));
      }
      case 1: return void(references->receive(kHostile, wire::encode(Fork{r, f, below(5) - 1, below(2)})));
      default: {
        const ForkMessage message{static_cast<ForkMessageKind>(below(6)), static_cast<std::uint64_t>(below(4000)), r, f,
                                  below(3) == 0 ? "it is gone" : ""};
        return references->receive_message(kHostile, wire::encode(message));
      }
    }
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("no message of a peer changes the references of others, or the values here") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const ReferenceRanks ranks(3);
    Number here, there;
    ranks.as(0, [&] {
      here = Number(std::int64_t{7});
      rpc::rpc_sync("worker2", hostile_keep, here);
      there = remote("worker2", hostile_seven, 0);
      there.creation().wait();
    });
    ranks.as(0, [&] {
      Liar liar(seed);
      for (int i = 0; i < 4000; ++i) (void)rpc::text_of_error([&] { liar.say_something(); });
      CHECK(here.local_value() == 7);
      CHECK(there.to_here() == 7);
      CHECK(rpc::rpc_sync("worker2", hostile_seven, 0) == 7);
    });
    ranks.as(2, [] {
      CHECK(kept_by_2().to_here() == 7);
      kept_by_2() = {};
    });
  }
}

TEST_CASE("the number of requested values that do not exist is limited") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [&] {
    const RRef<std::int64_t> here(std::int64_t{7});
    const auto ask = [](std::int64_t number) { (void)current_references()->find_value({1, number}); };
    constexpr std::int64_t kMost = 65'536;
    for (std::int64_t number = 0; number < kMost; ++number) ask(1'000'000 + number);
    CHECK(has(rpc::text_of_error([&] { ask(1); }), "more than 65536 requested values were never created"));
    ask(1'000'000);  // again
    CHECK(rpc::rpc_sync("worker1", hostile_seven, 0) == 7);
    CHECK(here.local_value() == 7);
  });
}

}  // namespace distrun::rref
