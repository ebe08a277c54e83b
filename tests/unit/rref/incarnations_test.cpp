// References of successive workers with one id.
#include "reference_ranks.hpp"

namespace distrun::rref {
namespace {

using Number = RRef<std::int64_t>;
std::int64_t incarnation_seven(std::int64_t) { return 7; }
DISTRUN_RPC(incarnation_seven)

const WorkerInfo kFirst("worker1", rpc::WorkerKey(1, 1)), kSecond("worker1", rpc::WorkerKey(1, 2));
constexpr std::int64_t kFarAway = 1'000'000;  // unused ids

// Three workers; worker 1 is the successor of one that has left.
class Successors {
 public:
  Successors() : ranks_(3) {
    for (const int rank : {0, 1, 2}) join(rank);
    as(1, [] { rpc::shutdown({.graceful = false}); });
    join(1);
  }
  void as(int rank, const std::function<void()>& body) const { REQUIRE(ranks_.error_as(rank, body) == ""); }

 private:
  void join(int rank) const {
    as(rank, [&] { rpc::init_rpc(ranks_.elastic(rank)); });
  }
  rpc::Ranks ranks_;
};

std::string owned() { return debug_info()["num_owner_rrefs"]; }

}  // namespace

TEST_CASE("a reference is lost with its owner, though the owner has a successor") {
  const Successors ranks;
  ranks.as(0, [] {
    const auto references = current_references();
    const WorkerInfo from("worker2", rpc::WorkerKey(2, 1));
    const Fork fork{{2, kFarAway}, {2, kFarAway + 1}, 1, 2, 1};
    const auto ref = Number::of(references->receive(from, wire::encode(fork)));
    CHECK(has(rpc::text_of_error([&] { ref.to_here(30.0); }), "its owner, worker1, has left"));
  });
}

TEST_CASE("a loss that is reported late does not affect the references of the successor") {
  const Successors ranks;
  ranks.as(0, [] {
    const auto references = current_references();
    const Number there = remote("worker1", incarnation_seven, 0);
    CHECK(there.owner().incarnation() == 2);
    there.creation().wait();
    references->lose(kFirst, Error(ErrorKind::Disconnected, "it was killed"));
    CHECK(there.to_here() == 7);
  });
}

TEST_CASE("messages of a worker about its references have no effect after another has taken its place") {
  const Successors ranks;
  ranks.as(0, [] {
    const auto references = current_references();
    const Number here(std::int64_t{7});
    const auto fork = wire::decode<Fork>(wire::view_of(references->share(*here.reference(), kSecond.key())));
    CHECK(owned() == "1");
    const wire::Bytes drops = wire::encode(ForkMessage{ForkMessageKind::UserDelete, 1, fork.rref, fork.fork, ""});
    references->receive_message(kFirst, drops);
    CHECK(owned() == "1");
    references->receive_message(kSecond, drops);
    CHECK(owned() == "0");
    CHECK(has(rpc::text_of_error([&] {
                references->receive(kFirst, wire::encode(Fork{{1, 5}, {1, 6}, 1, 1}));
              }),
              "worker1 has left, and another worker has its id"));
    CHECK(has(rpc::text_of_error([&] { references->share(*here.reference(), kFirst.key()); }), "has left"));
  });
}

}  // namespace distrun::rref
