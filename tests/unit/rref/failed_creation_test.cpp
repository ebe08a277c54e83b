// Errors of references whose value could not be created, or is lost.
#include "reference_ranks.hpp"

#include "../rpc/faulty_ranks.hpp"

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

}  // namespace distrun::rref
