// Errors sent to a caller.
#include <catch2/catch.hpp>

#include <new>
#include <stdexcept>

#include <distrun/runtime/rpc/calls/error_codec.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace error_codec_test {

struct Odd : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class T>
struct Of : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Rebuilt : Error {
  using Error::Error;
};

}  // namespace error_codec_test

namespace {

using namespace error_codec_test;

const WorkerInfo kWorker("worker1", 1);

template <class Thrown>
Error as_error(const Thrown& thrown) {
  return rpc::error_of(std::make_exception_ptr(thrown));
}

wire::Bytes written(const Error& error, const WorkerInfo& on = kWorker) {
  wire::ByteWriter bytes;
  write_error(bytes, error, on);
  return bytes.take();
}

std::exception_ptr read(const wire::Bytes& bytes) {
  wire::ByteReader in(wire::view_of(bytes));
  std::exception_ptr error = read_error(in);
  in.expect_end();
  return error;
}

Error again(const Error& error) { return rpc::error_of(read(written(error))); }

TEST_CASE("an error is read back with its kind, type, text, place and context") {
  Error error(ErrorKind::Timeout, "TimeoutError", "first\nsecond\r\n\"third\"", {"callee.cpp", 42});
  error.while_doing("inner").while_doing("outer").with_cause(3);
  const Error back = again(error);
  CHECK(back.because_of() == 3);
  CHECK(again(Error(ErrorKind::Failed, "NobodyKnows", "text").with_cause(2)).because_of() == 2);
  CHECK(back.kind() == ErrorKind::Timeout);
  CHECK(back.type() == "TimeoutError");
  CHECK(back.text() == "first\nsecond\r\n\"third\"");
  CHECK(std::string(back.where().file) == "callee.cpp");
  CHECK(back.where().line == 42);
  CHECK(back.context() == std::vector<std::string>{"inner", "outer"});
  CHECK(std::string(back.what()) == error.what());
  CHECK(back.remote_trace() ==
        "On WorkerInfo(id=1, name=worker1):\nTimeoutError: " + std::string(error.what()) + "\n  at callee.cpp:42");
}

TEST_CASE("every kind, and every well-known type, is kept") {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::Unimplemented); ++kind) {
    CHECK(again(Error(static_cast<ErrorKind>(kind), "text")).kind() == static_cast<ErrorKind>(kind));
  }
  for (const std::string type : {"RuntimeError", "ValueError", "TypeError", "KeyError", "PeerFailed", "PluginError",
                                 "OutOfMemoryError", "ZeroDivisionError"}) {
    CHECK(again(Error(ErrorKind::Failed, type, "text")).type() == type);
  }
}

TEST_CASE("texts of any size are cut to the limits of messages and logs, and marked as cut") {
  Error large(ErrorKind::Failed, std::string(10'000, 'T'), std::string(10 << 20, 'x'), {"far.cpp", 1});
  large.with_remote_trace(std::string(10 << 20, 't')).with_cause(3);
  for (int i = 0; i < 100; ++i) large.while_doing(std::string(1 << 20, 'c'));
  const Error cut = with_bounded_texts(large);
  CHECK(cut.kind() == ErrorKind::Failed);
  CHECK(cut.because_of() == 3);
  CHECK(cut.text().size() < 300 * 1024);
  CHECK_THAT(cut.text(), Catch::EndsWith("xxx... (10485760 bytes in all)"));
  CHECK(std::string(cut.what()).size() < 1 << 20);
  wire::ByteWriter bytes;
  write_error(bytes, cut, WorkerInfo("worker1", 1));
  CHECK(bytes.take().size() < 1 << 20);
  const Error small = with_bounded_texts(Error(ErrorKind::Timeout, "ValueError", "small", {"far.cpp", 1}));
  CHECK(small.text() == "small");
  CHECK(small.where().line == 1);
}

TEST_CASE("a trace is limited, however often an error was passed on") {
  Error far(ErrorKind::Failed, "ValueError", "far", {"far.cpp", 1});
  far.with_remote_trace("the throw\n" + std::string(100'000, 'x'));
  const std::string trace = again(far).remote_trace().value_or("");
  CHECK(trace.size() == 64 * 1024);
  CHECK_THAT(trace, Catch::Contains("far.cpp:1\nthe throw\nxxx") && Catch::EndsWith("x\n..."));
}

TEST_CASE("the trace of an error from a third worker is kept") {
  const Error far = again(Error(ErrorKind::Failed, "ValueError", "far", {"far.cpp", 1}));
  wire::ByteWriter bytes;
  write_error(bytes, far, WorkerInfo("worker2", 2));
  const Error back = rpc::error_of(read(bytes.take()));
  CHECK(back.remote_trace() ==
        "On WorkerInfo(id=2, name=worker2):\nValueError: far\n  at far.cpp:1\n"
        "On WorkerInfo(id=1, name=worker1):\nValueError: far\n  at far.cpp:1");
}

TEST_CASE("foreign exceptions have well-known type names") {
  CHECK(as_error(std::out_of_range("beyond")).type() == "IndexError");
  CHECK(as_error(std::invalid_argument("wrong")).type() == "ValueError");
  CHECK(as_error(std::bad_alloc()).type() == "MemoryError");
  CHECK(as_error(std::runtime_error("text")).type() == "RuntimeError");
  CHECK(as_error(std::logic_error("text")).text() == "text");
  CHECK(as_error(Odd("odd")).type() == "Odd");
  CHECK(as_error(Of<std::string>("of")).type() == "Of");
  CHECK(as_error(3).type() == "RuntimeError");
  CHECK(as_error(3).text() == "an object of int was thrown");
  CHECK(as_error(PeerFailed("gone", 2)).type() == "PeerFailed");
}

TEST_CASE("unknown error types are reported with their original name") {
  const Error back = again(Error(ErrorKind::Timeout, "MyError", "text", {"callee.cpp", 42}));
  CHECK(back.kind() == ErrorKind::Failed);
  CHECK(back.type() == "RuntimeError");
  CHECK(back.text() ==
        "Original exception on remote side was MyError: text (no class of that name is registered here)");
  CHECK(back.where().line == 42);
  CHECK_THAT(back.remote_trace().value_or(""), Catch::Contains("MyError: text\n  at callee.cpp:42"));
}

TEST_CASE("registered error types are thrown again as such") {
  register_error_type("error_codec_test.Rebuilt", [](const Error& error) {
    return std::make_exception_ptr(Rebuilt(error.kind(), error.type(), "rebuilt " + error.text()));
  });
  CHECK_THROWS_AS(std::rethrow_exception(read(written(Error(ErrorKind::Failed, "error_codec_test.Rebuilt", "x")))),
                  Rebuilt);
}

TEST_CASE("an error that cannot be rebuilt is reported with the reason, for any failure of its factory") {
  const auto text_of = [](std::function<std::exception_ptr(const Error&)> rebuild) {
    register_error_type("error_codec_test.Bad", std::move(rebuild));
    return again(Error(ErrorKind::Failed, "error_codec_test.Bad", "x")).text();
  };
  const std::string begin = "Original exception on remote side was error_codec_test.Bad: x (";
  CHECK(text_of([](const Error&) -> std::exception_ptr { throw std::runtime_error("no"); }) ==
        begin + "to make it again has failed: no)");
  CHECK(text_of([](const Error&) -> std::exception_ptr { throw 3; }) ==
        begin + "to make it again has failed: an object of int was thrown)");
  CHECK(text_of([](const Error&) -> std::exception_ptr { return nullptr; }) ==
        begin + "to make it again has failed: nothing was made)");
  CHECK(text_of({}) == begin + "no class of that name is registered here)");
}

TEST_CASE("truncated errors are refused, and unknown kinds are failures") {
  Error error(ErrorKind::Timeout, "ValueError", "text", {"callee.cpp", 42});
  error.while_doing("inner");
  const wire::Bytes whole = written(error);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS(read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), Error);
  }
  wire::Bytes changed = whole;
  changed[0] = std::byte{200};
  CHECK(rpc::error_of(read(changed)).kind() == ErrorKind::Failed);
}

TEST_CASE("no more context is sent than can be read") {
  Error error(ErrorKind::Failed, "text");
  for (int i = 0; i < 100; ++i) error.while_doing("level " + std::to_string(i));
  CHECK(again(error).context().size() == 64);
}

}  // namespace
}  // namespace distrun::rpc
