#pragma once
// A call in its caller's profile: "rpc_sync#f(worker0 -> worker1)", from its start until its answer. Below it is the
// other worker's work for the call, which arrives with the answer (served_profile.hpp), as "rpc_sync#f(worker0 ->
// worker1)#remote_op: aten::add".
#include <memory>
#include <string>
#include <string_view>

#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::profiler {
struct Record;  // profiler/record.hpp
}

namespace distrun::rpc {

// Returns the name in the profile. `callee`: the name of a function, or "aten::add" for an operator.
std::string profiling_key(CallMode mode, std::string_view callee, std::string_view from, std::string_view to);

class ProfiledCall {
 public:
  // Returns null if the thread has no profile that records calls. Otherwise adds the callee's section to `sections`.
  static std::shared_ptr<ProfiledCall> begin(const CallHead& head, CallMode mode, const WorkerInfo& from,
                                             const WorkerInfo& to, std::vector<Section>& sections);
  // Does not record a call that was never made.
  ~ProfiledCall();

  // Called once, when the call is answered or given up (null), before its waiters see that it is done.
  void end(const Message* answer) noexcept;

 private:
  ProfiledCall(std::unique_ptr<profiler::Record> record, WorkerId to);

  const std::string key_;
  const WorkerId to_;
  std::unique_ptr<profiler::Record> record_;
};

}  // namespace distrun::rpc
