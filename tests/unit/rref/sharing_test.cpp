// References in flight: their receivers, their containers, and those that are never accepted.
#include "reference_ranks.hpp"

namespace distrun::rref {
namespace {

using Number = RRef<std::int64_t>;
struct Record {
  Number ref;
  std::map<std::string, std::vector<Number>> more;
};
DISTRUN_FIELDS(Record, m.ref, m.more)

std::int64_t share_fetch(const Number& ref) { return ref.to_here(); }
DISTRUN_RPC(share_fetch)
Number share_back(const Number& ref) { return ref; }
DISTRUN_RPC(share_back)
Record share_record(const Record& record) { return record; }
DISTRUN_RPC(share_record)
std::int64_t share_forward(const Number& ref, std::int64_t to) {
  return rpc::rpc_sync(rpc::Destination(static_cast<int>(to)), share_fetch, ref);
}
DISTRUN_RPC(share_forward)
Number share_gated(const Number& ref) {
  const auto here = gate();
  here->wait();
  return ref;
}
DISTRUN_RPC(share_gated)
std::int64_t share_seven(std::int64_t) { return 7; }
DISTRUN_RPC(share_seven)
std::int64_t share_seven_gated(std::int64_t) {
  const auto here = gate();
  here->wait();
  return 7;
}
DISTRUN_RPC(share_seven_gated)

struct Unsent {
  explicit Unsent(std::int64_t) {}
};
const auto unsent = rpc::RegisterClass<Unsent>("UnitUnsent").constructor<std::int64_t>();

// Called on rank 0: references to its own value and to one of rank 1.
std::vector<Number> both() { return {Number(std::int64_t{7}), remote("worker1", share_seven, 0)}; }

}  // namespace

TEST_CASE("owners and users share with users, owners and themselves, and no reference is left") {
  const ReferenceRanks ranks(3);
  ranks.as(0, [] {
    for (const Number& ref : both()) {
      for (const int to : {0, 1, 2}) {
        CAPTURE(ref.text(), to);
        CHECK(rpc::rpc_sync(to, share_fetch, ref) == 7);
        CHECK(rpc::rpc_sync(to, share_back, ref) == ref);
        for (const std::int64_t next : {0, 1, 2}) CHECK(rpc::rpc_sync(to, share_forward, ref, next) == 7);
      }
    }
  });
  CHECK(ranks.left_over() == "");
  CHECK(ranks.shut_down() == rpc::no_errors(3));
}

TEST_CASE("references are sent in records, lists and maps, and may be values of references") {
  const ReferenceRanks ranks(3);
  ranks.as(0, [] {
    for (const Number& ref : both()) {
      const Record record{ref, {{"twice", {ref, ref}}, {"none", {}}}};
      for (const int to : {0, 1, 2}) {
        CAPTURE(ref.text(), to);
        const Record back = rpc::rpc_sync(to, share_record, record);
        CHECK(back.ref == ref);
        CHECK(back.more.at("twice").at(1).to_here() == 7);
        const RRef<Record> there = remote(to, share_record, record);
        CHECK(there.to_here().ref.to_here() == 7);
      }
    }
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a message that is not read returns the references in it") {
  const UseGate use;
  const ReferenceRanks ranks(3);
  ranks.as(0, [] {
    for (const Number& ref : both()) {
      CAPTURE(ref.text());
      CHECK(has(rpc::text_of_error([&] { rpc::rpc_sync("worker2", "there is no such function", ref); }), "no such"));
      CHECK(
          has(rpc::text_of_error([&] { rpc::rpc_sync(rpc::to("worker2").within(0.05), share_gated, ref); }), "50 ms"));
    }
    gate()->open();  // their answers come too late
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a value that cannot be sent leaves no reference in flight") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    for (const Number& ref : both()) {
      CAPTURE(ref.text());
      const auto object = std::make_shared<Unsent>(1);
      CHECK(rpc::text_of_error([&] { rpc::rpc_sync("worker1", "share_fetch", ref, object); }) != "");
      CHECK(rpc::text_of_error([&] { remote("worker1", "share_fetch", ref, object); }) != "");
    }
  });
  CHECK(ranks.left_over() == "");
}

TEST_CASE("a creation that is given up is reported, and its value is destroyed when it is created") {
  const UseGate use;
  const ReferenceRanks ranks(2);
  for (const int owner : {0, 1}) {
    CAPTURE(owner);
    ranks.as(0, [&] {
      const auto ref = remote(rpc::Destination(owner).within(0.05), share_seven_gated, 0);
      CHECK(has(rpc::text_of_error([&] { ref.creation().wait(); }), "50 ms"));
      if (owner == 0) return;
      const auto is_told = [&] {
        return has(rpc::text_of_error([&] { ref.to_here(); }), "RRef creation via rpc.remote() timed out");
      };
      CHECK(ranks.comes_true(0, is_told));
      CHECK(has(rpc::text_of_error([&] { rpc::rpc_sync("worker1", share_fetch, ref); }), "timed out"));
    });
  }
  gate()->open();
  CHECK(ranks.left_over() == "");
}

}  // namespace distrun::rref
