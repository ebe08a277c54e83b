// Requests that no store makes, but that may come from outside.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/key_table.hpp>

namespace distrun::stores {
namespace {

TEST_CASE("a request with too many or too few keys or values is none, and does nothing") {
  KeyTable table;
  const std::vector<std::string> one{"a"}, two{"a", "b"};
  for (int op = 0; op < 256; ++op) {
    for (const auto& keys : {std::vector<std::string>(), one, two}) {
      for (const auto& values : {std::vector<std::string>(), one, two}) {
        const Request request{static_cast<Op>(op), keys, values, 1};
        try {
          table.run(request);
        } catch (const Error& error) {
          CHECK(error.kind() == ErrorKind::InvalidArgument);
        }
      }
    }
  }
  CHECK_THROWS_WITH(table.run({Op::Set, two, one, 0}), "a request set with 2 keys and 1 values is none");
  CHECK_THROWS_WITH(table.run({static_cast<Op>(99), {}, {}, 0}), "a request unknown with 0 keys and 0 values is none");
}

TEST_CASE("a table has so many keys and no more, and those that are there can still be set") {
  KeyTable table;
  for (std::size_t i = 0; i < kKeys; ++i) table.run({Op::Set, {std::to_string(i)}, {""}, 0});
  CHECK_THROWS_WITH(table.run({Op::Set, {"more"}, {""}, 0}), Catch::StartsWith("a store has 131072 keys at most"));
  CHECK_THROWS_AS(table.run({Op::QueuePush, {"more"}, {""}, 0}), Error);
  CHECK_FALSE(table.run({Op::QueuePop, {"more"}, {}, 0}).is_ready);  // it waits, as elsewhere
  CHECK(table.run({Op::Delete, {"more"}, {}, 0}).number == 0);
  CHECK_NOTHROW(table.run({Op::Set, {"1"}, {"one"}, 0}));
  CHECK(table.run({Op::Get, {"1"}, {}, 0}).values[0] == "one");
}

TEST_CASE("many empty values take room as well") {
  KeyTable table;
  const std::string value(kValueSize, 'v');
  std::size_t pushed = 0;
  CHECK_THROWS_AS(([&] {
                    for (;; ++pushed) table.run({Op::QueuePush, {"queue"}, {value}, 0});
                  }()),
                  Error);
  CHECK(pushed == 127);
  table.run({Op::Delete, {"queue"}, {}, 0});
  CHECK_NOTHROW(table.run({Op::QueuePush, {"queue"}, {value}, 0}));
}

TEST_CASE("keys that are missing are named with those that they may have been meant to be") {
  KeyTable table;
  for (const char* const key : {"step", "worlds/ring/ready", "done"}) table.run({Op::Set, {key}, {"x"}, 0});
  const Request wait{Op::Wait, {"setp", "worlds/ring/raedy", "worlds/star/ready", "done", "other"}, {}, 0};
  CHECK(table.named_missing(wait) == std::vector<std::string>{"setp (did you mean step?)",
                                                              "worlds/ring/raedy (did you mean worlds/ring/ready?)",
                                                              "worlds/star/ready", "other"});
  CHECK(table.named_missing({Op::Get, {"stepp"}, {}, 0}) == std::vector<std::string>{"stepp (did you mean step?)"});
}

}  // namespace
}  // namespace distrun::stores
