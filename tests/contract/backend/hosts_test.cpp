// Groups on several hosts: what one machine's backends say there, and ends that are no ranks.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runtime/collectives/hosts_of_group.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/collectives/shm/mirror_meeting.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "group_of.hpp"
#include "rank_processes.hpp"
#include "support/skip.hpp"
#include "two_hosts.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;

using RankBody = std::function<void(const GroupInfo& group, Store& store)>;

// Runs ranks on two hosts, with a store. Returns what each throws.
std::vector<std::string> run_on_hosts(int ranks, const RankBody& body) {
  const stores::StoreServer server("127.0.0.1", 0, "open sesame");
  return run_processes(ranks, [&](int rank, const std::string&) -> std::string {
    std::optional<testing::OnHost> host;
    begin_on_host(host, rank, ranks);
    TcpStore store("127.0.0.1", {.port = server.port(), .secret = "open sesame"});
    try {
      body(group_of(rank, ranks), store);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  });
}

base::TimePoint soon() { return base::system_clock().now() + 60s; }

void skip_without_gloo() {
  const std::string why_not = why_no_backend("gloo");
  testing::skip_case_if(!why_not.empty(), why_not);
}

Call barrier(std::uint64_t number, base::Nanoseconds limit) {
  Call call;
  call.number = number;
  call.timeout = limit;
  call.deadline = base::system_clock().now() + limit;
  return call;
}

TEST_CASE("a backend of one machine refuses a group on several hosts, and names them and what works there") {
  const std::string backend = GENERATE(as<std::string>(), "shm", "threads");
  const auto thrown =
      run_on_hosts(4, [&](const GroupInfo& group, Store& store) { make_host_backend(backend, group, store, soon()); });
  for (const std::string& each : thrown) {
    CHECK_THAT(each, Catch::Contains("backend " + backend +
                                     " works within one host, but the ranks of group world run on several: a (ranks "
                                     "0, 2), b (ranks 1, 3); use backend gloo (--backend gloo)"));
  }
}

TEST_CASE("a group with all ranks on one of several hosts uses shared memory") {
  const auto thrown = run_on_hosts(4, [](const GroupInfo& all, Store& store) {
    GroupInfo group;
    group.name = all.rank % 2 == 0 ? "even" : "odd";
    group.rank = all.rank / 2;
    group.ranks = {all.rank % 2, all.rank % 2 + 2};
    PrefixStore own(group.name, std::shared_ptr<Store>(std::shared_ptr<void>(), &store));
    make_host_backend("shm", group, own, soon())->run(barrier(1, 60s));
  });
  CHECK(thrown == std::vector<std::string>(4));
}

TEST_CASE("groups that name no backend use gloo on several hosts, and shm on one") {
  CHECK(GroupOptions().backend == "shm");
  const testing::OnHost host("a=0;b=1", "127.0.0.1", 0);
  CHECK(GroupOptions().backend == "gloo");
}

TEST_CASE("ranks of several hosts that make different calls learn which") {
  skip_without_gloo();
  const auto thrown = run_on_hosts(3, [](const GroupInfo& group, Store& store) {
    const auto backend = make_host_backend("gloo", group, store, soon());
    Call call = barrier(1, 60s);
    std::vector<std::byte> bytes(4);
    if (group.rank == 2) {
      call.kind = CallKind::AllReduce;
      call.in = {bytes};
      call.out = {bytes};
    }
    backend->run(call);
  });
  for (const std::string& each : thrown) {
    CHECK_THAT(each,
               Catch::Contains("the ranks of group world make different calls: ranks 0-1 are in barrier number 1; "
                               "rank 2 is in all_reduce number 1"));
  }
}

TEST_CASE("a call that times out on several hosts names the rank that has not arrived") {
  skip_without_gloo();
  const auto thrown = run_on_hosts(3, [](const GroupInfo& group, Store& store) {
    const auto backend = make_host_backend("gloo", group, store, soon());
    if (group.rank == 1) return store.wait({"done/0", "done/2"});
    try {
      backend->run(barrier(1, 300ms));
    } catch (const Error&) {
      store.set("done/" + std::to_string(group.rank), "");
      throw;
    }
  });
  CHECK_THAT(thrown[0], Catch::Contains("barrier number 1 of group world has timed out after 300.0 ms") &&
                            Catch::Contains("it waits for rank 1"));
  CHECK(thrown[1].empty());
}

// The address at which the group's first rank listens.
stores::TcpAddress address_of_first(Store& store) {
  const std::string place = store.get("far/0");
  const std::size_t space = place.find(' ');
  return stores::resolve(place.substr(0, space), static_cast<std::uint16_t>(std::stoi(place.substr(space)))).front();
}

base::Fd connect_to(const stores::TcpAddress& address, const std::string& bytes) {
  base::Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), address.get(), address.size) != 0) throw Error(ErrorKind::Failed, "no process listens");
  (void)!::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return socket;
}

TEST_CASE("strangers that connect while ranks of several hosts meet disturb no rank") {
  const auto thrown = run_on_hosts(2, [](const GroupInfo& group, Store& store) {
    const std::vector<std::string> hosts = hosts_of_group(store, group, soon());
    std::vector<base::Fd> strangers;
    if (group.rank == 1) {
      const stores::TcpAddress first = address_of_first(store);
      const std::string hello = "dgroup-1" + std::string(32, 'n');
      for (const std::string& bytes : {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"), std::string("dgroup-1"),
                                       hello, hello + std::string(36, '\1')}) {
        strangers.push_back(connect_to(first, bytes));
      }
    }
    const std::vector<shm::FarRank> ranks = shm::connect_ranks(store, group, hosts, base::system_clock().now() + 10s);
    const shm::FarRank& other = ranks[static_cast<std::size_t>(1 - group.rank)];
    if (!other.socket || other.host != (group.rank == 0 ? "b" : "a")) throw Error(ErrorKind::Failed, other.host);
  });
  CHECK(thrown == std::vector<std::string>(2));
}

TEST_CASE("a rank of another host that sends nonsense is cut off, and named") {
  skip_without_gloo();
  const std::string nonsense = GENERATE(std::string(64, '\xff'),                                  // an endless frame
                                        std::string(16, '\0'),                                    // of no kind
                                        std::string("\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0abcd", 20),  // a short one
                                        std::string("\5\0\0\0\0\0\0\0\4\2\0\0\0\0\0\0", 16) + std::string(516, '\7'));
  const auto thrown = run_on_hosts(2, [&](const GroupInfo& group, Store& store) {
    if (group.rank == 0) {
      make_host_backend("gloo", group, store, soon());
      return;
    }
    const auto ranks = shm::connect_ranks(store, group, hosts_of_group(store, group, soon()), soon());
    (void)!::send(ranks.front().socket.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL);
    base::set_nonblocking(ranks.front().socket.get(), false);
    char bytes[4096];
    while (::recv(ranks.front().socket.get(), bytes, sizeof bytes, 0) > 0) {
    }
  });
  CHECK_THAT(thrown[0], Catch::Contains("rank 1 is gone: its process ") &&
                            Catch::Contains(" on b has ended, or cannot be reached"));
}

}  // namespace
}  // namespace distrun::collectives
