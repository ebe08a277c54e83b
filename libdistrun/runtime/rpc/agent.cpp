#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::rpc {

void refuse_forked(const base::ProcessMark& mark, base::Location site) {
  mark.check("the RPC session", "use RPC in that process, fork before init_rpc(), or exec() a program", site);
}

}  // namespace distrun::rpc
