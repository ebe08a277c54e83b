#pragma once
// A call that is made under a profile, as its caller's profile shows it: "rpc_sync#f(worker0 -> worker1)", from when it
// is made until it is answered; and below it what the other worker has done for it, which comes with the answer
// (served_profile.hpp), as "rpc_sync#f(worker0 -> worker1)#remote_op: aten::add".
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

// What the profile calls it. `callee` is the name of a function, or "aten::add" of an operator.
std::string profiling_key(CallMode mode, std::string_view callee, std::string_view from, std::string_view to);

class ProfiledCall {
 public:
  // Null: the thread has no profile that records calls. Else `sections`, of the message, get what tells the callee.
  static std::shared_ptr<ProfiledCall> begin(const CallHead& head, CallMode mode, const WorkerInfo& from,
                                             const WorkerInfo& to, std::vector<Section>& sections);
  // One that was never made is not recorded.
  ~ProfiledCall();

  // It is answered, or given up (null): before anybody who waits for it finds it done. Once.
  void end(const Message* answer) noexcept;

 private:
  ProfiledCall(std::unique_ptr<profiler::Record> record, WorkerId to);

  const std::string key_;
  const WorkerId to_;
  std::unique_ptr<profiler::Record> record_;
};

}  // namespace distrun::rpc
