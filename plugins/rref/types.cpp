// The type of a reference's value, requested from its owner once.
#include <algorithm>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

constexpr int kQuestions = 10;

// Returns whether the body sends a request to the owner.
template <class Body>
bool asks_owner(Body body) {
  profiler::Profile profile;
  body();
  profile.end();
  const std::vector<profiler::Event> events = profile.events();
  return std::any_of(events.begin(), events.end(), [](const profiler::Event& each) {
    return each.name.rfind("rpc_async#_rref_typeof_on_owner", 0) == 0;
  });
}

}  // namespace

DISTRUN_TEST_F(RpcTest, rref_type_blocking) {
  const auto x = remote<Tensor>(next_worker(rank), "add", ones({2}), 1);
  DISTRUN_EXPECT(asks_owner([&] { DISTRUN_EXPECT(x.type() == "Tensor"); }));
  DISTRUN_EXPECT(!asks_owner([&] {
    for (int i = 0; i < kQuestions; ++i) DISTRUN_EXPECT(x.type() == "Tensor");
  }));
  DISTRUN_EXPECT(remote<MyClass>(next_worker(rank), "MyClass", 0).type() == "MyClass");
}

DISTRUN_TEST_F(RpcTest, rref_type_non_blocking) {
  const auto x = remote<Tensor>(next_worker(rank), "add", ones({2}), 1);
  DISTRUN_EXPECT(asks_owner([&] { DISTRUN_EXPECT(x.type_async().wait() == "Tensor"); }));
  std::vector<Future<std::string>> asked;
  std::vector<Future<bool>> seen;  // set by callbacks
  DISTRUN_EXPECT(!asks_owner([&] {
    for (int i = 0; i < kQuestions; ++i) {
      asked.push_back(x.type_async());
      Future<bool> sees;
      asked.back().add_done_callback(
          [sees](const Future<std::string>& done) mutable { sees.set_result(done.wait() == "Tensor"); });
      seen.push_back(sees);
    }
  }));
  for (const Future<std::string>& each : asked) {
    DISTRUN_EXPECT(each.wait() == "Tensor");
    DISTRUN_EXPECT(each.state() == asked.front().state());
  }
  for (const Future<bool>& each : seen) DISTRUN_EXPECT(each.wait());
  DISTRUN_EXPECT(remote<MyClass>(next_worker(rank), "MyClass", 0).type_async().wait() == "MyClass");
}

DISTRUN_TEST_F(RpcTest, rref_type_with_error_blocking) {
  const auto raised = remote(next_worker(rank), raise_func);
  DISTRUN_EXPECT(thrown_by([&] { raised.type(); }) == an_error("ValueError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, rref_type_with_error_non_blocking) {
  const auto raised = remote(next_worker(rank), raise_func);
  const Future<std::string> type = raised.type_async();
  DISTRUN_EXPECT(thrown_by([&] { type.wait(); }) == an_error("ValueError", "Expected error"));
}

DISTRUN_TEST_F(RpcTest, rref_type_owner_blocking) {
  DISTRUN_EXPECT(RRef<Tensor>(ones({2}) + 1).type() == "Tensor");
  DISTRUN_EXPECT(RRef<MyClass>(MyClass(0)).type() == "MyClass");
}

DISTRUN_TEST_F(RpcTest, rref_type_owner_non_blocking) {
  const RRef<Tensor> x(ones({2}) + 1);
  const RRef<MyClass> object(MyClass(0));
  const Future<std::string> of_x = x.type_async(), of_object = object.type_async();
  DISTRUN_EXPECT(of_x.done());
  DISTRUN_EXPECT(of_object.done());
  DISTRUN_EXPECT(of_x.wait() == "Tensor");
  DISTRUN_EXPECT(of_object.wait() == "MyClass");
}

DISTRUN_TEST_F(RpcTest, rref_type_slow_init) {
  DISTRUN_EXPECT(remote(next_worker(rank), slow_add_number, ones({2}), 1).type() == "Tensor");
}
