#include <agents/pipe/handshake.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/runner/nodes/greeting.hpp>
#include <distrun/runner/nodes/link_messages.hpp>
#include <distrun/runner/nodes/messages.hpp>
#include <distrun/runner/nodes/trace_messages.hpp>

#include "corpus.hpp"

namespace distrun::fuzz {
namespace {

// Handshakes with a store's server, after a byte that tells the size of the pieces.
void write_store_greetings() {
  const std::string hello = std::string(stores::kHandshake.connector_magic) + std::string(proof::kNonceSize, 'n');
  const std::string whole(1, '\xff');
  write("store_greeting/hello", {}, "\x07" + hello);
  write("store_greeting/hello_and_guess", {}, whole + hello + std::string(proof::kProofSize, 'x'));
  write("store_greeting/hello_of_another_version", {}, whole + "dstore-1" + std::string(64, 's'));
  write("store_greeting/http", {}, whole + "GET / HTTP/1.1\r\n\r\n");
}

// The beginnings of nodes, after a byte that tells who reads, and one that tells the size of the pieces.
void write_node_joins() {
  const std::string to_coordinator("\0\xff", 2), to_node("\x01\xff"), joins("\x02\xff");
  const std::string hello = std::string(nodes::kNodeHandshake.connector_magic) + std::string(proof::kNonceSize, 'n');
  const std::string answer = std::string(proof::kNonceSize + proof::kProofSize, 'x');
  write("node_join/hello", {}, std::string("\0\x07", 2) + hello);
  write("node_join/hello_and_guess", {}, to_coordinator + hello + std::string(proof::kProofSize, 'x'));
  write("node_join/hello_of_another_version", {}, to_coordinator + "dsnode-0" + std::string(64, 's'));
  write("node_join/http", {}, to_coordinator + "GET / HTTP/1.1\r\n\r\n");
  write("node_join/answer", {}, to_node + std::string(nodes::kNodeHandshake.listener_magic) + answer + "y");
  write("node_join/answer_of_another_version", {}, to_node + "dsnode+9");
  write("node_join/answer_http", {}, to_node + "HTTP/1.1 400 Bad Request\r\n\r\n");
  nodes::Join join{"node01", "node01.example.org", 4711, "1.0.0", {"10.0.0.7", "fd00::7"}};
  write("node_join/join", wire::encode(join), joins);
  join.host = "-oProxyCommand=x";
  write("node_join/join_of_no_host", wire::encode(join), joins);
}

// A part of a trace, after a byte that says so.
void write_trace_parts() {
  const std::string traces("\x02");
  nodes::TracePart part;
  part.world = 7;
  part.fetch = 1;
  part.rank = 2;
  part.written = 2;
  trace::Slice slice;
  slice.kind = trace::Kind::Call;
  slice.rule = trace::Peers::One;
  slice.peers = 1;
  slice.name = "doubled";
  slice.place = "ring.cpp";
  slice.line = 41;
  slice.tid = 4711;
  slice.begin_ns = 1'000;
  slice.end_ns = 2'000;
  part.slices = {slice};
  part.threads = {{4711, "main"}};
  write("node_orders/trace", wire::encode(part), traces);
  part.slices.front().end_ns = 999;
  write("node_orders/trace_that_ends_early", wire::encode(part), traces);
  part.slices.front().kind = static_cast<trace::Kind>(trace::kKindCount);
  write("node_orders/trace_of_no_kind", wire::encode(part), traces);
}

// Orders for programs after a zero byte, and sizes of pieces of output after another.
void write_node_orders() {
  const std::string orders(1, '\0'), output("\x01");
  nodes::SpawnRequest request;
  request.world = 7;
  request.plugin = "train";
  request.isolation = Isolation::Program;
  request.world_size = 4;
  request.first_rank = 2;
  request.ranks_here = 2;
  request.lane = 1;
  request.hosts = "a=0-1;b=2-3";
  request.program = nodes::ProgramOrder{
      {"train", "--epochs", "3"}, {"PATH=/bin", "SLURM_PROCID=0", "EMPTY="}, {"PATH=/usr/bin"}, "10.0.0.7", 1, 2};
  write("node_orders/program", wire::encode(request), orders);
  request.program->arguments.clear();
  write("node_orders/program_without_arguments", wire::encode(request), orders);
  request.program->arguments = {std::string("tr\0in", 5)};
  request.program->environment = {"=", "no_value"};
  write("node_orders/program_with_zero", wire::encode(request), orders);
  request.program.reset();
  request.isolation = Isolation::Process;
  write("node_orders/plugin", wire::encode(request), orders);
  request.first_rank = 3;
  write("node_orders/ranks_beyond_the_world", wire::encode(request), orders);
  request.first_rank = 2;
  request.lane = nodes::kJobsMax;
  write("node_orders/no_such_lane", wire::encode(request), orders);
  write("node_orders/output", {}, output + std::string("\x02\x80\xda\x03\x04\xfe\xfe", 7));
  write("node_orders/output_held", {}, output + std::string(4, '\xd9'));
  write("node_orders/output_beyond_the_window", {}, output + std::string(30, '\xd9'));
}

// Greetings of both sides, after a byte that tells the size of the pieces.
void write_greetings() {
  using namespace agents::pipe;
  const Offer shm{"shm", "boot id=1, uid=0", ""};
  const Offer cma{"cma", "boot id=1, uid=0, pid namespace=4", ""};
  const proof::Nonces nonces{std::string(proof::kNonceSize, 'c'), std::string(proof::kNonceSize, 'l')};
  const auto proof_of = [&](const char* secret) {
    return proof::prove(secret, kProofProtocol, proof::Side::Connector, nonces);
  };
  Hello hello;
  hello.proof = proof_of("secret");
  hello.worker = "worker2";
  hello.id = 2;
  hello.expects = 1;
  hello.pid = 4711;
  hello.address = "uds:distrun-rpc-2;tcp:[::1]:80";
  hello.transports = {shm, {"uds", "", ""}, {"tcp", "", "no network"}, {"old", "", ""}};
  hello.channels = {cma};
  const std::string whole(1, '\0');
  write("greeting/hello", pack(hello), whole);
  write("greeting/hello_in_pieces", pack(hello), "\x07");
  hello.transports = {{"shm", "boot id=2, uid=0", ""}, {"tcp", "", ""}};
  write("greeting/hello_from_far", pack(hello), whole);
  hello.proof = proof_of("Secret");
  write("greeting/hello_with_another_secret", pack(hello), whole);
  Opening opening;
  opening.nonce = nonces.connector;
  write("greeting/opening", pack(opening), whole);
  opening.version = kProtocolVersion + 1;
  write("greeting/opening_of_another_version", pack(opening), whole);
  Identity own;
  own.secret = "secret";
  write("greeting/challenge", pack(make_challenge(own, nonces)), whole);
  Welcome welcome;
  welcome.worker = "worker2";
  welcome.id = 2;
  welcome.pid = 4711;
  welcome.transport = "uds";
  welcome.channels = {"cma"};
  welcome.not_taken = {{"shm", "no memory"}};
  wire::Bytes answers = pack(welcome);
  const wire::Bytes refusal = pack(Refusal{RefusalKind::Glare, "me first"});
  answers.insert(answers.end(), refusal.begin(), refusal.end());
  write("greeting/answers", answers, whole);
  write("greeting/http", {}, std::string("\0GET / HTTP/1.1\r\n\r\n", 19));
  write("greeting/address", {}, "uds:distrun-rpc-0a;tcp:127.0.0.1:4711");
  write("greeting/address_v6", {}, "tcp:[fe80::1]:65535");
}

}  // namespace

void write_handshakes() {
  write_store_greetings();
  write_node_joins();
  write_node_orders();
  write_trace_parts();
  write_greetings();
}

}  // namespace distrun::fuzz
