// Options of the agent, and its selection.
#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/fault_plan.hpp>
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

TEST_CASE("a test's own faults replace those of the run") {
  const SetVariable run("DISTRUN_RPC_FAULTS", "9:drop:ack:0.5");
  FaultyOptions options;
  CHECK(options.plan() == "9:drop:ack:0.5");
  options.faults = "4:dup:ack:1";
  CHECK(options.plan() == "4:dup:ack:1");
  options.faults.clear();
  CHECK(options.plan() == "9:drop:ack:0.5");
}

TEST_CASE("invalid options are refused with the expected texts") {
  FaultyOptions options;
  CHECK(options.plan().empty());
  options.faults = "nonsense";
  CHECK_THAT(error_of([&] { options.plan(); }).text(), Catch::Contains("FaultyOptions::faults: \"nonsense\""));
  CHECK_THROWS_WITH(FaultyOptions(0), Catch::Contains("num_worker_threads must be positive"));
}

}  // namespace
}  // namespace distrun::agents::faulty
