// The agreement between two workers, and addresses as text.
#include <catch2/catch.hpp>

#include <agents/pipe/handshake.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

using Names = std::vector<std::string>;

Identity worker(WorkerId id, std::vector<Offer> transports, std::vector<Offer> channels = {}) {
  Identity own{"secret", "worker" + std::to_string(id), id, "", std::move(transports), std::move(channels)};
  return own;
}

const proof::Nonces kNonces{std::string(32, 'c'), std::string(32, 'l')};

Choice choice_of(const Identity& listener, const Identity& connector, SocketKind socket, std::size_t files = 2) {
  return choose(listener, make_hello(connector, listener.id, kNonces), socket, files);
}

const Offer kShm{"shm", "boot id=1, uid=0", ""};
const Offer kUds{"uds", "", ""};
const Offer kTcp{"tcp", "", ""};
const Offer kCma{"cma", "boot id=1, uid=0, pid namespace=5", ""};

TEST_CASE("the listener's preferred transport that both have is chosen") {
  const Identity all = worker(1, {kShm, kUds, kTcp}, {kCma});
  Choice choice = choice_of(all, worker(2, {kTcp, kUds, kShm}, {kCma}), SocketKind::Uds);
  CHECK(choice.transport == "shm");
  CHECK(choice.channels == Names{"cma"});
  CHECK(reasons(choice.not_taken) == "uds: shm is preferred; tcp: the connection is a Unix socket");
  choice = choice_of(all, worker(2, {kTcp, kUds}), SocketKind::Uds);
  CHECK(choice.transport == "uds");
  CHECK(choice.channels.empty());
  CHECK(reasons(choice.not_taken) ==
        "shm: not offered by the peer; tcp: the connection is a Unix socket; cma: not offered by the peer");
  choice = choice_of(all, worker(2, {kTcp, kUds, kShm}), SocketKind::Tcp);
  CHECK(choice.transport == "tcp");
  CHECK(choice_of(all, worker(2, {kShm, kUds}), SocketKind::Uds, 0).transport == "uds");
}

TEST_CASE("the reasons why a transport or a channel cannot be used are reported") {
  const Identity own = worker(1, {kShm}, {kCma});
  const auto why = [&](const Offer& shm, const Offer& cma) {
    const Choice choice = choice_of(own, worker(2, {shm}, {cma}), SocketKind::Uds);
    CHECK(choice.transport.empty());
    return reasons(choice.not_taken);
  };
  CHECK(why({"shm", "boot id=2, uid=0", ""}, {"cma", "boot id=1, uid=0, pid namespace=6", ""}) ==
        "shm: the peer is on another machine (boot id differs); cma: the peer's pid namespace differs");
  CHECK(why({"shm", "boot id=1, uid=7", ""}, {"cma", "", ""}) ==
        "shm: the peer's uid differs; cma: the peer describes it differently");
  CHECK(why({"shm", "boot id=1, uid=0", "no memory"}, {"cuda", "", ""}) ==
        "shm: at the peer: no memory; cma: not offered by the peer; cuda: not offered by this worker");
  const Identity broken = worker(1, {{"shm", "", "no /dev/shm"}});
  CHECK(reasons(choice_of(broken, worker(2, {kShm}), SocketKind::Uds).not_taken) == "shm: no /dev/shm");
}

TEST_CASE("a greeting of any allowed size can be answered") {
  std::vector<Offer> offers;
  std::vector<Offer> others;
  for (std::size_t i = 0; i < kOffersMax; ++i) {
    std::string name(kOfferTextMax, static_cast<char>('a' + i));
    others.push_back({name, std::string(kOfferTextMax, 'x'), std::string(300, 'y')});
    name[0] = 'A';
    offers.push_back({name, std::string(kOfferTextMax, 'x'), std::string(300, 'z')});
  }
  const Identity own = worker(1, offers, offers);
  const wire::Bytes bytes = pack(make_hello(worker(2, others, others), 1, kNonces));
  const Hello hello = read_hello(wire::view_of(bytes).substr(4), own, kNonces);
  Welcome welcome;
  welcome.not_taken = choose(own, hello, SocketKind::Uds, 0).not_taken;
  CHECK(welcome.not_taken.size() == 4 * kOffersMax);
  CHECK(pack(welcome).size() < kGreetingMax);
  CHECK(pack(Refusal{RefusalKind::Final, reasons(welcome.not_taken)}).size() < kGreetingMax);
}

TEST_CASE("a message that is too long is an error on its sender") {
  Identity own = worker(1, {kUds});
  own.transports[0].descriptor = std::string(kGreetingMax, 'x');
  CHECK_THROWS_WITH(pack(make_hello(own, 2, kNonces)), Catch::Contains("is over the limit of 16384"));
}

TEST_CASE("addresses are parsed and formatted alike") {
  for (const char* text :
       {"uds:distrun-rpc-0af3", "tcp:127.0.0.1:80", "uds:x;tcp:[::1]:65535", "tcp:10.0.0.1:1;uds:y"}) {
    CHECK(to_string(parse_address(text)) == text);
  }
}

TEST_CASE("an address may name the process that listens there") {
  CHECK(pid_in("uds:x;tcp:10.0.0.1:1;pid:17") == 17);
  CHECK(parse_address("uds:x;tcp:10.0.0.1:1;pid:17") == parse_address("uds:x;tcp:10.0.0.1:1"));
  CHECK(pid_in("uds:x") == 0);
}

TEST_CASE("an invalid address is refused with its text") {
  for (const char* text : {"",
                           ";",
                           "uds:",
                           "uds:a b",
                           "uds:a;",
                           "uds:a;uds:b",
                           "tcp:1.2.3.4",
                           "tcp:host:80",
                           "tcp:1.2.3.4:0",
                           "tcp:1.2.3.4:080",
                           "tcp:1.2.3.4:65536",
                           "tcp:1.2.3.4:8x",
                           "tcp:1.2.3.4:",
                           "tcp:::1:80",
                           "tcp:[1.2.3.4]:80",
                           "tcp:[:1]:80",
                           "tcp:[]:80",
                           "UDS:a",
                           "tcp:1.2.3.4:+8",
                           "uds:a;pid:",
                           "uds:a;pid:0",
                           "uds:a;pid:-1",
                           "uds:a;pid:1x",
                           "uds:a;pid:99999999999",
                           "pid:1",
                           "uds:a;pid:1;tcp:1.2.3.4:1"}) {
    CHECK_THROWS_WITH(parse_address(text),
                      Catch::StartsWith("address \"" + std::string(text) + "\" is not a worker's: "));
  }
  CHECK_THROWS_WITH(parse_address("uds:" + std::string(101, 'a')), Catch::Contains("1 to 100 letters"));
  CHECK_THROWS_WITH(parse_address(std::string(257, 'a')), Catch::Contains("more than 256 bytes"));
  CHECK_THROWS_WITH(parse_address("\x1b[1m"), Catch::StartsWith("address \"\\x1b[1m\" is not a worker's"));
}

}  // namespace
}  // namespace distrun::agents::pipe
