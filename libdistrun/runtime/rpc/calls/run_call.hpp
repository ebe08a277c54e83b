#pragma once
// One call of another worker, run here:
//
//   read -> queued -> running -> answered
//                            \-> its future is waited for -> answered
//
// An operator on little, and functions that say that they are quick, always or with these arguments, are run where the
// call is read. All others are handlers' tasks: they may block.
#include <memory>

#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/rpc/calls/autograd_service.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/calls/handler_wait.hpp>
#include <distrun/runtime/rpc/devices/carrier.hpp>
#include <distrun/runtime/rpc/functions/graph_codec.hpp>

namespace distrun::rpc {

// Where answers go, once each; and what the calls of one session share. Any thread.
class Answers {
 public:
  virtual void reply(const CallContext& call, const Value& value) noexcept = 0;
  // Of a function's own error, which is logged; `is_own`: what was wrong with the call.
  virtual void fail(const CallContext& call, const Error& error, bool is_own) noexcept = 0;
  // It waits for its future now.
  virtual void begin_async() noexcept = 0;
  virtual void end_async() noexcept = 0;
  virtual GraphCache& graphs() noexcept = 0;
  virtual ReferenceService* reference_service() noexcept = 0;  // null: there is none
  virtual AutogradService* autograd_service() noexcept = 0;    // so, too
  virtual DeviceCarrier& devices() noexcept = 0;
  virtual HandlerWait* handler_wait() noexcept { return nullptr; }  // null: nobody asks

 protected:
  ~Answers() = default;
};

// The type of the error that tells a caller to send the graph function along.
inline constexpr const char* kUnknownGraph = "UnknownGraph";

// What a function has returned that is to return a future: that. Throws Error{InvalidArgument} for anything else.
Result async_result(Result result);

// Runs it at once if it is quick, and says so; the call is answered then. On any thread.
bool run_if_quick(Answers& answers, const CallContext& call, const Message& message) noexcept;

// The task of one that is not; `answers` is kept. Null: it may run here, its function has found these arguments quick,
// and it was run.
std::unique_ptr<future::HandlerTask> make_call_task(std::shared_ptr<Answers> answers, std::shared_ptr<CallContext> call,
                                                    Message message, bool may_run_here);

}  // namespace distrun::rpc
