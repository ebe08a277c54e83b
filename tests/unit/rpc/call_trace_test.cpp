// Nested calls are identified by their origin.
#include <catch2/catch.hpp>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace {

std::string own_trace() { return current_call()->trace(); }
DISTRUN_RPC(own_trace)
std::string trace_through(int first, int second) {
  return second < 0 ? rpc_sync(first, own_trace) : rpc_sync<std::string>(first, "trace_through", second, -1);
}
DISTRUN_RPC(trace_through)

std::vector<std::string> ranks_of(const std::string& trace) {
  std::vector<std::string> ranks;
  for (std::size_t at = 0; at <= trace.size();) {
    const std::size_t dot = trace.find('.', at);
    ranks.push_back(trace.substr(at, dot - at));
    const std::size_t slash = trace.find('/', at);
    if (slash == std::string::npos) break;
    at = slash + 1;
  }
  return ranks;
}

TEST_CASE("a nested call has an id with the ranks of all calls around it") {
  const Ranks ranks(3);
  std::string direct, nested;
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) {
      direct = rpc_sync(1, own_trace);
      nested = rpc_sync(1, trace_through, 2, 1);
    }
    shutdown();
  });
  CHECK(errors == no_errors(3));
  CHECK(ranks_of(direct) == std::vector<std::string>{"0"});
  CHECK(ranks_of(nested) == std::vector<std::string>{"0", "1", "2"});
}

}  // namespace
}  // namespace distrun::rpc
