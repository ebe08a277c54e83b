// The encoding of calls and answers.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/names.hpp>
#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/rpc/values/serializer.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::rpc {
namespace {

struct Thing {
  int a = 0;
};
const auto thing = RegisterClass<Thing>("call_codec_test.Thing")
                       .by_value([](const Thing& object) { return object.a; }, [](int a) { return Thing{a}; });

Arguments some_arguments(const Tensor& tensor) {
  Arguments arguments;
  arguments.positional = {Value(Tensor(tensor)), to_value("x"), Value(Tensor(tensor))};
  arguments.named.emplace_back("b", to_value(2));
  return arguments;
}

struct ReadCall {
  CallHead head;
  Arguments arguments;
};
ReadCall read(const Message& message, Instances instances = Instances::Read) {
  CallReader reader(message, instances);
  ReadCall call;
  call.head = reader.read_head();
  call.arguments = reader.read_arguments(call.head);
  return call;
}
bool is_read(const Message& message) {
  try {
    read(message);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::shared_ptr<const GraphFunction> some_graph() {
  GraphBuilder g("plus");
  const GraphValue x = g.parameter("x");
  return g.returns(g.op("add", x, g.constant(tensor::ones({2}))));
}

TEST_CASE("a call is read as it was written") {
  const Tensor tensor = tensor::ones({2});
  for (const auto kind : {CalleeKind::Function, CalleeKind::Operator}) {
    for (const bool runs_late : {false, true}) {
      Message message;
      CallHead head;
      head.kind = kind;
      head.runs_late = runs_late;
      head.name = "my_function";
      write_call(message, head, some_arguments(tensor));
      CHECK(message.tensors.size() == 1);
      CHECK(std::string(callee_name(message)) == "my_function");
      const ReadCall call = read(message);
      CHECK(call.head.kind == kind);
      CHECK(call.head.runs_late == runs_late);
      CHECK_FALSE(call.head.is_custom);
      CHECK(call.head.name == "my_function");
      REQUIRE(call.arguments.positional.size() == 3);
      CHECK(call.arguments.positional[2].get_if<Tensor>()->is_same(tensor));
      REQUIRE(call.arguments.named.size() == 1);
      CHECK(call.arguments.named[0].first == "b");
      CHECK(same(call.arguments.named[0].second, to_value(2)));
    }
  }
}

TEST_CASE("a call is shown with the name that its caller gives it, and runs the function that it names") {
  Message message;
  CallHead head;
  head.name = "_rref_invoke";
  head.shown = "Stage.forward";
  write_call(message, head, some_arguments(tensor::ones({2})));
  CHECK(std::string(callee_name(message)) == "Stage.forward");
  const ReadCall call = read(message);
  CHECK(call.head.name == "_rref_invoke");
  CHECK(call.head.shown == "Stage.forward");
  CHECK(call.arguments.positional.size() == 3);
}

TEST_CASE("a graph function is sent with the call, or its hash alone") {
  const auto graph = some_graph();
  const Tensor tensor = tensor::ones({2});
  for (const bool goes_along : {true, false}) {
    Message message;
    CallHead head;
    head.kind = CalleeKind::Graph;
    head.name = graph->name();
    head.graph_hash = graph->hash();
    head.graph = goes_along ? graph : nullptr;
    write_call(message, head, some_arguments(tensor));
    CHECK(message.tensors.size() == (goes_along ? 2 : 1));
    const ReadCall call = read(message);
    CHECK(call.head.graph_hash == graph->hash());
    CHECK((call.head.graph != nullptr) == goes_along);
    if (goes_along) CHECK(call.head.graph->hash() == graph->hash());
    CHECK(call.arguments.positional[0].get_if<Tensor>()->is_same(tensor));
  }
}

class Backwards final : public Serializer {
 public:
  Packed pack(const Value& value) const override {
    Packed packed = default_serializer().pack(value);
    std::reverse(packed.bytes.begin(), packed.bytes.end());
    return packed;
  }
  Value unpack(const Packed& packed) const override {
    Packed turned = packed;
    std::reverse(turned.bytes.begin(), turned.bytes.end());
    return default_serializer().unpack(turned);
  }
};

TEST_CASE("arguments of another serializer are read by it") {
  const Backwards backwards;
  const UseSerializer guard(backwards);
  Message message;
  CallHead head;
  head.name = "f";
  const Tensor tensor = tensor::ones({2});
  write_call(message, head, some_arguments(tensor));
  const ReadCall call = read(message);
  CHECK(call.head.is_custom);
  REQUIRE(call.arguments.positional.size() == 3);
  CHECK(call.arguments.positional[0].get_if<Tensor>()->is_same(tensor));
  CHECK(call.arguments.named.at(0).first == "b");
}

TEST_CASE("too many arguments are refused by the sender") {
  Message message;
  Arguments arguments;
  arguments.positional.resize(10'001);
  CHECK_THROWS_WITH(write_call(message, {}, arguments), "a call has more than 10000 arguments");
}

TEST_CASE("truncated calls and calls with a changed byte are read or refused") {
  const auto graph = some_graph();
  CallHead plain, with_graph;
  plain.name = "f";
  with_graph.kind = CalleeKind::Graph;
  with_graph.name = "g";
  with_graph.graph_hash = graph->hash();
  with_graph.graph = graph;
  for (const CallHead& head : {plain, with_graph}) {
    Message whole;
    Arguments arguments = some_arguments(tensor::ones({2}));
    arguments.positional.push_back(to_value(Thing{1}));
    write_call(whole, head, arguments);
    REQUIRE(is_read(whole));
    for (std::size_t size = 0; size < whole.payload.size(); ++size) {
      Message cut = whole;
      cut.payload.resize(size);
      CHECK_FALSE(is_read(cut));
      CHECK(callee_name(cut) != nullptr);
    }
    base::Rng rng(17);
    for (int i = 0; i < 20'000; ++i) {
      Message changed = whole;
      changed.payload[rng.below(whole.payload.size())] = std::byte(static_cast<unsigned char>(rng.next()));
      is_read(changed);
      callee_name(changed);
    }
  }
  CHECK(std::string(callee_name(Message())) == "what is no call");
}

TEST_CASE("a call with an object is refused where objects are not allowed") {
  Message message;
  Arguments arguments;
  arguments.positional.push_back(to_value(Thing{1}));
  write_call(message, {}, arguments);
  CHECK_THROWS_AS(read(message, Instances::Refused), Error);
  CHECK(from_value<Thing>(read(message).arguments.positional[0]).a == 1);
}

TEST_CASE("answers say at the start whether they contain an object") {
  Message plain, with_object;
  write_reply(plain, Value(List{{to_value(1), Value(tensor::ones({2}))}}));
  write_reply(with_object, Value(List{{to_value(Thing{3})}}));
  CHECK(is_plain(plain));
  CHECK_FALSE(is_plain(with_object));
  CHECK_FALSE(is_plain(Message()));
  CHECK(describe(read_reply(plain)) == "list of 2");
  CHECK(from_value<std::vector<Thing>>(read_reply(with_object)).at(0).a == 3);
  with_object.payload.front() = std::byte{0};
  CHECK_THROWS_WITH(read_reply(with_object), Catch::Contains("where none may be"));
  for (std::size_t size = 0; size < plain.payload.size(); ++size) {
    Message cut = plain;
    cut.payload.resize(size);
    CHECK_THROWS_AS(read_reply(cut), Error);
  }
}

TEST_CASE("a value that cannot be sent is not an answer") {
  Message message;
  CHECK_THROWS_WITH(write_reply(message, to_value(Future<int>())),
                    Catch::StartsWith("Can not pickle torch.futures.Future"));
}

TEST_CASE("names are kept once each, and no longer than the limit") {
  const std::string name = "call_codec_test's name";
  const char* const first = lasting_name(name);
  CHECK(first == lasting_name(std::string(name)));
  CHECK(std::string(lasting_name(std::string(1000, 'x'))).size() == 200);
}

}  // namespace
}  // namespace distrun::rpc
