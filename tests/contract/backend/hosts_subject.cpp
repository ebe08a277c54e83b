// The backend gloo with ranks on two hosts: processes that share no memory, at two addresses of loopback, and a store
// that a server has.
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "backend_contract.hpp"
#include "group_of.hpp"
#include "rank_processes.hpp"
#include "support/skip.hpp"
#include "two_hosts.hpp"

namespace distrun::collectives {
bool letters_have_tags() { return true; }

std::vector<std::string> run_ranks(int ranks, const Body& body) {
  const std::string why_not = why_no_backend("gloo");
  testing::skip_case_if(!why_not.empty(), why_not);
  const stores::StoreServer server("127.0.0.1", 0, "open sesame");
  return run_processes(ranks, [&](int rank, const std::string&) {
    std::optional<testing::OnHost> host;
    begin_on_host(host, rank, ranks);
    TcpStore store("127.0.0.1", {.port = server.port(), .secret = "open sesame"});
    return what_it_throws("gloo", group_of(rank, ranks), store, body);
  });
}

}  // namespace distrun::collectives
