// Calls cancelled by their callers before they began.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/run_call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>

namespace distrun::rpc {
namespace {

int cancelled_call_six() { return 6; }
DISTRUN_RPC(cancelled_call_six)

class Heard final : public Answers {
 public:
  void reply(const CallContext& call, const Value& value) noexcept override {
    if (call.result != nullptr) call.result->set(value);
    text = "a value";
  }
  void fail(const CallContext& /*call*/, const Error& error, bool /*is_own*/) noexcept override { text = error.text(); }
  void begin_async() noexcept override {}
  void end_async() noexcept override {}
  GraphCache& graphs() noexcept override { return cache_; }
  ReferenceService* reference_service() noexcept override { return nullptr; }
  AutogradService* autograd_service() noexcept override { return nullptr; }
  DeviceCarrier& devices() noexcept override { return *devices_; }

  std::string text;

 private:
  GraphCache cache_;
  const std::shared_ptr<DeviceCarrier> devices_ = DeviceCarrier::make({WorkerInfo("worker0", 0), true, {}, {}});
};

class Kept final : public ResultSink {
 public:
  void set(const Value& value) noexcept override { number = from_value<int>(value); }
  void fail(const base::Error& /*error*/) noexcept override { number = -1; }
  int number = 0;
};

// Returns the answer to a call of that function after its caller is gone.
std::string run_cancelled(const std::shared_ptr<ResultSink>& result) {
  const auto heard = std::make_shared<Heard>();
  const auto call = std::make_shared<CallContext>(WorkerInfo("worker1", 1), 1, "cancelled_call_six", core::kForever);
  call->result = result;
  call->cancel();
  Message message;
  CallHead head;
  head.name = "cancelled_call_six";
  write_call(message, head, {});
  make_call_task(heard, call, std::move(message), false)->run();
  return heard->text;
}

TEST_CASE("a cancelled call is not started, unless its result may be referenced by others") {
  CHECK_THAT(run_cancelled(nullptr), Catch::Contains("its time was over before it could begin"));
  const auto kept = std::make_shared<Kept>();
  CHECK(run_cancelled(kept) == "a value");
  CHECK(kept->number == 6);
}

}  // namespace
}  // namespace distrun::rpc
