// Errors on the callee's side, and how the caller sees them.
#include "suites.hpp"

#include <distrun/runtime/rpc/compat.hpp>

using namespace distrun;
using namespace distrun::suites;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

DISTRUN_TEST_F(RpcTest, py_function_exception) {
  DISTRUN_EXPECT(thrown_by([&] { rpc_sync(next_worker(rank), "no_result", 10); }) ==
                 an_error("TypeError", "no_result() takes 0 positional arguments but 1 was given"));
}

DISTRUN_TEST_F(RpcTest, py_raise_in_user_func,
               .skip = {skip_if(distrun::suites::ranks_share_process, "ranks that are threads share their streams")}) {
  const CapturedOutput captured;
  open_group(rank);
  group_barrier();
  const auto future = rpc_async(next_worker(rank), raise_func);
  DISTRUN_EXPECT(thrown_by([&] { future.wait(); }) == an_error("ValueError", "Expected error"));
  group_barrier();
  const std::string told = captured.err();
  DISTRUN_EXPECT(has(told, "Expected error"));
  DISTRUN_EXPECT(has(told, to_string(rpc::get_worker_info())));
}

DISTRUN_TEST_F(RpcTest, py_raise_in_user_func_escaped_str) {
  const auto future = rpc_async(next_worker(rank), raise_func_escape);
  const Thrown thrown = thrown_by([&] { future.wait(); });
  DISTRUN_EXPECT(thrown == an_error("ValueError", "\nFirst line of error \n next line of error \n last line of error"));
  DISTRUN_EXPECT(!has(thrown.text, "\\n"));
}

// The caller cannot construct one from a text: it gets a generic error that says so.
DISTRUN_TEST_F(RpcTest, custom_exception_throw_during_reconstruction) {
  open_group(rank);
  if (rank.rank() != 0) {
    const Thrown thrown = thrown_by([] { rpc_sync("worker0", custom_raise_func); });
    DISTRUN_EXPECT(thrown == an_error("RuntimeError", "Original exception on remote side was"));
    DISTRUN_EXPECT(thrown == an_error("RuntimeError", "CustomException"));
  }
  group_barrier();
}

DISTRUN_TEST_F(RpcTest, function_not_on_callee) {
  if (rank.rank() == 1) {
    DISTRUN_EXPECT(rpc::hide_function("foo_add"));
    rpc_sync("worker0", set_value, 1);
    rank.receive(0, "called");
    rpc::show_function("foo_add");
  } else if (rank.rank() == 0) {
    DISTRUN_EXPECT(promise().here()->wait() == 1);
    DISTRUN_EXPECT(rpc::find_function("foo_add") != nullptr);
    DISTRUN_EXPECT(thrown_by([] { rpc_sync("worker1", foo_add); }) ==
                   an_error("RuntimeError", "RPC pickler does not serialize"));
    rank.send(1, "called", "");
  }
}

DISTRUN_TEST(RpcTest, handle_send_exceptions) {
  rank.barrier("all have begun");
  start_rpc(rank);
  rpc::set_rpc_timeout(10);
  open_group(rank);
  group_barrier();
  if (rank.rank() == 1) {
    DISTRUN_EXPECT(wait_until_node_failure(2) != "");
    const Thrown thrown = thrown_by([] { rpc_async("worker2", "add", ones({1}), 3).wait(); });
    DISTRUN_EXPECT(thrown == a_lost_worker());
  }
  rpc::shutdown({.graceful = false});
  DISTRUN_EXPECT(!rpc::is_initialized());
}
