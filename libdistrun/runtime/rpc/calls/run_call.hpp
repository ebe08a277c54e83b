#pragma once
// Runs one call of another worker:
//
//   read -> queued -> running -> answered
//                            \-> waiting for its future -> answered
//
// Operators on small operands, and functions that are quick (always, or with these arguments), run on the thread that
// reads the call. All others may block, and run as handlers' tasks.
#include <memory>

#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/rpc/calls/autograd_service.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/calls/handler_wait.hpp>
#include <distrun/runtime/rpc/devices/carrier.hpp>
#include <distrun/runtime/rpc/graph/codec.hpp>

namespace distrun::rpc {

// Receives the answers, one per call, and gives access to what the calls of a session share. Thread-safe.
class Answers {
 public:
  virtual void reply(const CallContext& call, const Value& value) noexcept = 0;
  // Reports the function's error, which is logged, or, unless `is_own`, an error in the call.
  virtual void fail(const CallContext& call, const Error& error, bool is_own) noexcept = 0;
  // Called when a call starts to wait for its future.
  virtual void begin_async() noexcept = 0;
  virtual void end_async() noexcept = 0;
  virtual GraphCache& graphs() noexcept = 0;
  virtual ReferenceService* reference_service() noexcept = 0;  // null: none
  virtual AutogradService* autograd_service() noexcept = 0;    // null: none
  virtual DeviceCarrier& devices() noexcept = 0;
  virtual HandlerWait* handler_wait() noexcept { return nullptr; }  // null: not measured

 protected:
  ~Answers() = default;
};

// Type of the error that asks the caller to send the graph function along.
inline constexpr const char* kUnknownGraph = "UnknownGraph";

// Runs the function, and returns its result, or the future that an async function has returned. Inline functions may
// not wait for other ranks on any thread, since their arguments decide where they run. Throws what the function throws,
// and Error{InvalidArgument} if an async function returns anything else.
Result run_registered(const Function& function, const ValueList& arguments);

// Runs and answers the call if it is quick, and returns whether it was. Thread-safe.
bool run_if_quick(Answers& answers, const CallContext& call, const Message& message) noexcept;

// Returns the task for a call that is not quick; the task keeps `answers`. Returns null if the call has run already,
// since `may_run_here` was set and the function is quick with these arguments.
// Throws std::bad_alloc, and leaves the message as it is then.
std::unique_ptr<future::HandlerTask> make_call_task(std::shared_ptr<Answers> answers, std::shared_ptr<CallContext> call,
                                                    Message&& message, bool may_run_here);

}  // namespace distrun::rpc
