// Errors of references to a value that could not be created, or is lost.
#include <array>
#include <optional>
#include <utility>

#include "reference_ranks.hpp"

#include "../rpc/faulty_ranks.hpp"
#include "unit/future/handlers.hpp"

namespace distrun::rref {
namespace {

struct Adder {
  explicit Adder(std::int64_t number_) : number(number_) {}
  std::int64_t add(std::int64_t more) { return number += more; }
  std::int64_t number;
};
const auto adder = rpc::RegisterClass<Adder>("FailedCreationAdder")
                       .constructor<std::int64_t>({"number"})
                       .method("add", &Adder::add, {"more"});

constexpr const char* kUnsent = "Send attempt failed intentionally for remote";
constexpr const char* kGivenUp = "RRef creation via rpc.remote() timed out";

RRef<Adder> ask_for_one(const rpc::Destination& at) {
  return remote<Adder>(at, "FailedCreationAdder", std::int64_t{1});
}

// Runs the body as worker 0 of two, with these faults.
void with_faults(const std::string& faults, const std::function<void()>& body) {
  const rpc::Ranks ranks(2);
  REQUIRE(ranks.run([&](int rank) { rpc::init_rpc(rpc::faulty_options(ranks, rank, faults)); }) == rpc::no_errors(2));
  CHECK(ranks.error_as(0, body) == "");
  CHECK(ranks.run([](int) { rpc::shutdown({.graceful = false}); }) == rpc::no_errors(2));
}

template <class Ask>
std::string error_of_future(const Ask& ask) {
  std::optional<decltype(ask())> future;
  const std::string thrown = rpc::text_of_error([&] { future = ask(); });
  return future ? rpc::text_of_error([&] { future->wait(); }) : "thrown at once: " + thrown;
}

// Checks that each function of a reference which returns a future stores this error there.
void check_async_uses(const RRef<Adder>& ref, const std::string& expected) {
  const std::array<std::pair<const char*, std::string>, 4> errors = {{
      {"to_here_async", error_of_future([&] { return ref.to_here_async(5.0); })},
      {"type_async", error_of_future([&] { return ref.type_async(5.0); })},
      {"rpc_async of a method", error_of_future([&] { return ref.rpc_async(&Adder::add, 1); })},
      {"rpc_async by name", error_of_future([&] { return ref.rpc_async(5.0).call<int>("add", 1); })},
  }};
  for (const auto& [function, error] : errors) {
    INFO(function);
    CHECK_THAT(error, Catch::Contains(expected) && !Catch::Contains("thrown at once"));
  }
}

}  // namespace

TEST_CASE("a call that creates a value and cannot be sent, to this worker or another, is an error of its reference") {
  const int owner = GENERATE(0, 1);
  with_faults("1:fail:remote:1", [&] {
    {
      const RRef<Adder> failed = ask_for_one(owner);
      CHECK(failed.is_owner() == (owner == 0));
      CHECK(has(rpc::text_of_error([&] { failed.creation().wait(); }), kUnsent));
      CHECK(has(rpc::text_of_error([&] { failed.to_here(5.0); }), kUnsent));
      CHECK(has(rpc::text_of_error([&] { failed.type(5.0); }), kUnsent));
      CHECK(has(rpc::text_of_error([&] { failed.rpc_sync(&Adder::add, 1); }), kUnsent));
      CHECK(has(rpc::text_of_error([&] { failed.remote(&Adder::add, 1); }), kUnsent));
    }
    CHECK(debug_info()["num_owner_rrefs"] == "0");
    CHECK(debug_info()["num_pending_users"] == "0");
    CHECK(debug_info()["num_pending_futures"] == "0");
    CHECK(ask_for_one(owner).rpc_sync(&Adder::add, 1) == 2);
  });
}

TEST_CASE("asynchronous uses of a reference fail in their futures if its creation was not sent") {
  const int owner = GENERATE(0, 1);
  with_faults("1:fail:remote:1", [&] { check_async_uses(ask_for_one(owner), kUnsent); });
}

TEST_CASE("asynchronous uses of a reference fail in their futures if its creation has timed out") {
  const int owner = GENERATE(0, 1);
  with_faults("1:drop:remote:1", [&] {
    const RRef<Adder> late = ask_for_one(rpc::Destination(owner).within(0.05));
    REQUIRE(distrun::testing::soon([&] { return has(rpc::text_of_error([&] { late.to_here(0.05); }), kGivenUp); }));
    check_async_uses(late, kGivenUp);
  });
}

TEST_CASE("a wait for a value of this worker ends when the call that should create it times out") {
  with_faults("1:drop:remote:1", [] {
    const RRef<Adder> late = ask_for_one(rpc::Destination(0).within(0.05));
    CHECK(has(rpc::text_of_error([&] { late.to_here(); }), kGivenUp));
    CHECK(has(rpc::text_of_error([&] { late.local_value(); }), kGivenUp));
  });
}

TEST_CASE("a value of this worker stays usable though the answer that it exists is lost") {
  with_faults("1:drop:reply:1", [] {
    const RRef<Adder> here = ask_for_one(rpc::Destination(0).within(0.05));
    CHECK(here.to_here()->number == 1);
    CHECK(has(rpc::text_of_error([&] { here.creation().wait(); }), "RPC ran for more than set timeout"));
    CHECK(here.local_value()->number == 1);
  });
}

TEST_CASE("asynchronous uses of a reference to a value of a lost worker fail in their futures") {
  const bool is_type_known = GENERATE(false, true);
  const ReferenceRanks ranks(2);
  ranks.as(0, [&] {
    const RRef<Adder> there = ask_for_one(1);
    there.creation().wait();
    if (is_type_known) CHECK(there.type() == "FailedCreationAdder");
    current_references()->lose(WorkerInfo("worker1", 1), Error(ErrorKind::Disconnected, "it was killed"));
    check_async_uses(there, "can no longer be used: worker1 is gone: it was killed");
  });
}

TEST_CASE("asynchronous uses of a reference after its session fail in their futures") {
  const ReferenceRanks ranks(2);
  RRef<Adder> there;
  ranks.as(0, [&] { there = ask_for_one(1); });
  CHECK(ranks.shut_down({.graceful = false}) == rpc::no_errors(2));
  ranks.as(0, [&] { check_async_uses(there, "has been deleted"); });
}

}  // namespace distrun::rref
