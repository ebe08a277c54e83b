// Options of the agent, and its selection.
#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fault_plan.hpp>
#include <distrun/runtime/rpc/session/backends.hpp>

#include "support/error_of.hpp"

namespace distrun::agents::faulty {
namespace {

using distrun::testing::error_of;
using rpc::FaultyOptions;
using rpc::PipeOptions;

// Sets an environment variable during its lifetime.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~SetVariable() { ::unsetenv(name_); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* const name_;
};

TEST_CASE("the backend is found by the options' type, and by its names") {
  CHECK(rpc::backend_of(FaultyOptions()).name() == "faulty");
  CHECK(rpc::find_backend("FAULTY_TENSORPIPE").name() == "faulty");
  CHECK(dynamic_cast<FaultyOptions*>(rpc::find_backend("faulty").info().make_options().get()) != nullptr);
  const SetVariable named("DISTRUN_AGENT", "faulty");
  CHECK(rpc::backend_of(PipeOptions()).name() == "faulty");
}

TEST_CASE("options with the names of ported tests are a plan") {
  const FaultyOptions usual = FaultyOptions::usual();
  CHECK(usual.num_worker_threads == 8);
  CHECK(usual.num_fail_sends == 3);
  CHECK(usual.messages_to_fail.size() == 4);
  CHECK(usual.plan() ==
        "0:fail:RREF_FORK_REQUEST+RREF_CHILD_ACCEPT+RREF_USER_DELETE+CLEANUP_AUTOGRAD_CONTEXT_REQ:3,"
        "delay:PYTHON_CALL:1.5,delay:SCRIPT_CALL:1.5");
  CHECK(base::parse_fault_plan("plan", usual.plan()).faults.size() == 3);
  CHECK(FaultyOptions().plan().empty());
}

TEST_CASE("a test's own faults replace those of the run") {
  const SetVariable run("DISTRUN_RPC_FAULTS", "9:drop:ack:0.5");
  FaultyOptions options;
  CHECK(options.plan() == "9:drop:ack:0.5");
  options.faults = "4:dup:ack:1";
  CHECK(options.plan() == "4:dup:ack:1");
  options.messages_to_delay = {{"fetch", 0.25}};
  CHECK(options.plan() == "4:dup:ack:1,delay:fetch:0.25");
}

TEST_CASE("invalid options are refused with the expected texts") {
  FaultyOptions options;
  options.messages_to_fail = {"RREF_FORK_REQUEST", "SOME_MESSAGE"};
  CHECK(error_of([&] { options.plan(); }).text() == "No mapping to rpc::MessageType exists for SOME_MESSAGE");
  options.messages_to_fail.clear();
  options.messages_to_delay = {{"SOME_CALL", 1}};
  CHECK(error_of([&] { options.plan(); }).text() == "No mapping to rpc::MessageType exists for SOME_CALL");
  options.messages_to_delay = {{"PYTHON_CALL", -1}};
  CHECK(error_of([&] { options.plan(); }).text() == "Delays passed to FaultyTensorPipeAgent must be non-negative.");
  options.messages_to_delay.clear();
  options.faults = "nonsense";
  CHECK_THAT(error_of([&] { options.plan(); }).text(), Catch::Contains("FaultyOptions::faults: \"nonsense\""));
  CHECK_THROWS_WITH(FaultyOptions(0), Catch::Contains("num_worker_threads must be positive"));
}

}  // namespace
}  // namespace distrun::agents::faulty
