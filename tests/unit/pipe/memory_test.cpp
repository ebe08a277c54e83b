// Memory that a peer reads directly: permission, lifetime, and reads that come too late.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <agents/pipe/transports/cma.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fake_stream.hpp"
#include "linked_pair.hpp"
#include "support/skip.hpp"
#include "unit/support/forked.hpp"

namespace distrun::agents::pipe {
namespace {

using testing::end_of;
using testing::LinkedPair;
using Info = std::map<std::string, std::string>;

void skip_without_cma() {
  const Offer offer = cma_offer();
  distrun::testing::skip_case_if(!offer.why_not.empty(), offer.why_not);
}

// Large enough to be read by the peer over every transport.
Tensor large() { return tensor::full({2 << 20}, 7, {DType::I32}); }

rpc::Message message_of(std::uint64_t id, TensorList tensors) {
  rpc::Message message;
  message.id = id;
  message.tensors = std::move(tensors);
  return message;
}

Info info_of(const Link& link) {
  Info info;
  link.add_debug_info(info);
  return info;
}

TEST_CASE("memory that the peer reads is kept until the peer has acknowledged it") {
  skip_without_cma();
  LinkedPair links(GENERATE("shm", "uds"));
  const Tensor sent = large();
  CHECK(links.one.send(message_of(1, {sent}), Link::Limit::Call) == Link::Sent::Written);
  CHECK(links.one.has_kept());
  links.two.read(links.mail_of_two, 10);
  CHECK(links.one.has_kept());
  links.one.read(links.mail_of_one, 10);
  CHECK_FALSE(links.one.has_kept());
  REQUIRE(links.mail_of_two.messages.size() == 1);
  CHECK(tensor::is_close(links.mail_of_two.messages[0].tensors[0], sent));
}

// The test keeps the memory: the read is refused because its owner has withdrawn it.
TEST_CASE("data read out of a peer that has given it up is not used as a value") {
  skip_without_cma();
  const std::string transport = GENERATE("shm", "uds");
  LinkedPair links(transport);
  const Tensor sent = large();
  links.one.send(message_of(1, {}), Link::Limit::Call);
  links.one.send(message_of(2, {sent}), Link::Limit::Call);
  SECTION("the link is lost") {
    links.one.end(Link::State::Lost, Error(ErrorKind::Disconnected, "worker2 makes no sense"));
  }
  SECTION("its agent is closed") { links.one.close(); }
  CHECK_FALSE(links.one.has_kept());
  links.two.read(links.mail_of_two, 10);
  CHECK(links.mail_of_two.messages.size() == 1);
  CHECK(links.two.state() == Link::State::Lost);
  CHECK(end_of(links.two) == "worker1 is gone: it closed the connection while its memory was being read");
}

TEST_CASE("a link that is lost ends the peer's link, too") {
  LinkedPair links(GENERATE("shm", "uds"));
  links.one.end(Link::State::Lost, Error(ErrorKind::Disconnected, "worker2 makes no sense"));
  links.two.read(links.mail_of_two, 10);
  links.two.read(links.mail_of_two, 10);
  CHECK(end_of(links.two) == "worker1 is gone: the peer closed the connection");
}

TEST_CASE("a peer that leaves may still read messages that were sent to it before") {
  skip_without_cma();
  LinkedPair links(GENERATE("shm", "uds"));
  const Tensor sent = large();
  links.one.send(message_of(1, {sent}), Link::Limit::Call);
  links.two.send_leave("it is done");
  links.one.read(links.mail_of_one, 10);
  CHECK(links.one.state() == Link::State::Left);
  CHECK(links.one.has_kept());
  links.two.read(links.mail_of_two, 10);
  REQUIRE(links.mail_of_two.messages.size() == 1);
  CHECK(tensor::is_close(links.mail_of_two.messages[0].tensors[0], sent));
  CHECK_FALSE(links.one.end(Link::State::Lost, Error(ErrorKind::Disconnected, "its socket is at its end")));
  CHECK_FALSE(links.one.has_kept());
  CHECK(end_of(links.one) == "worker2 has left: it is done");
}

TEST_CASE("the listening side lets its memory be read when the peer has proved that it can") {
  skip_without_cma();
  LinkedPair links("shm");
  CHECK(info_of(links.one)["pipe.worker2.channels"] == "inline, cma");
  CHECK(info_of(links.two)["pipe.worker1.channels"] == "inline");
  links.two.read(links.mail_of_two, 10);
  CHECK(info_of(links.two)["pipe.worker1.channels"] == "inline, cma");
  links.two.send(message_of(1, {large()}), Link::Limit::Call);
  CHECK(links.two.has_kept());
}

TEST_CASE("if one end cannot read the other, neither does, and both know why") {
  LinkedPair links("uds", "no such\nluck");
  links.two.read(links.mail_of_two, 10);
  CHECK(info_of(links.one)["pipe.worker2.not_taken.cma"] == "no such\nluck");
  CHECK(info_of(links.two)["pipe.worker1.not_taken.cma"] == "the peer cannot read this worker's memory: no such luck");
  for (Link* link : {&links.one, &links.two}) {
    link->send(message_of(1, {large()}), Link::Limit::Call);
    CHECK_FALSE(link->has_kept());
    CHECK(info_of(*link).at("pipe." + link->peer().name() + ".channels") == "inline");
  }
}

TEST_CASE("a peer that asks for reads of its memory without an agreement is refused") {
  auto made = std::make_unique<testing::FakeStream>();
  OutgoingMessage(message_of(0, {large()}), 1).write_to(*made);
  Link link(rpc::WorkerInfo("worker2", 2), "uds:somewhere");
  link.begin(Connection(), std::move(made));
  testing::Mailbox mailbox;
  link.read(mailbox, 10);
  CHECK(mailbox.messages.empty());
  CHECK(end_of(link) == "worker2 is gone: it requires a direct read of its memory, which was not negotiated");
}

TEST_CASE("a seal is valid until it is broken, and only where it was put") {
  skip_without_cma();
  Seal seal, other;
  const SealMark mark = seal.mark();
  CHECK(why_broken(::getpid(), mark).empty());
  CHECK_THAT(why_broken(::getpid(), {mark.address, other.mark().nonce}), Catch::StartsWith("the memory does not hold"));
  CHECK_THAT(why_broken(::getpid(), {16, mark.nonce}), Catch::StartsWith("cannot read 8 bytes of process "));
  CHECK(why_broken(::getpid(), {}) == "it has declared no readable memory");
  seal.break_now();
  CHECK_THAT(why_broken(::getpid(), mark), Catch::StartsWith("the memory does not hold"));
  const pid_t gone = distrun::testing::fork_child([] { return 0; });
  distrun::testing::wait_for(gone);
  CHECK(why_broken(gone, other.mark()) == "process " + std::to_string(gone) + " is gone");
}

TEST_CASE("a channel that is chosen is proved by the peer's seal") {
  skip_without_cma();
  const Seal seal;
  std::vector<std::string> channels{"cma"};
  std::vector<NotTaken> not_taken;
  CHECK(prove(channels, not_taken, ::getpid(), seal.mark()) == "");
  CHECK(channels == std::vector<std::string>{"cma"});
  const auto why = prove(channels, not_taken, ::getpid(), {seal.mark().address, seal.mark().nonce + 1});
  REQUIRE(why.has_value());
  CHECK_FALSE(why->empty());
  CHECK(channels.empty());
  CHECK(reasons(not_taken) == "cma: this worker cannot read the peer's memory: " + *why);
  CHECK_FALSE(prove(channels, not_taken, ::getpid(), seal.mark()).has_value());
}

TEST_CASE("messages of a link are counted by kind, and by bytes alike at both ends") {
  LinkedPair links(GENERATE("shm", "uds"));
  rpc::Message call = message_of(1, {large()});
  call.payload.resize(100);
  links.one.send(std::move(call), Link::Limit::Call);
  for (const rpc::MessageKind kind : {rpc::MessageKind::Control, rpc::MessageKind::Reply, rpc::MessageKind::Reply}) {
    rpc::Message message = message_of(2, {});
    message.kind = kind;
    message.payload.resize(10);
    links.one.send(std::move(message), Link::Limit::None);
  }
  while (links.mail_of_two.messages.size() < 4) links.two.read(links.mail_of_two, 10), links.one.flush();
  Info out = info_of(links.one), in = info_of(links.two);
  for (const auto& [name, count] : {std::pair{"call", "1"}, {"control", "1"}, {"reply", "2"}}) {
    CHECK(out["pipe.worker2.messages_out." + std::string(name)] == count);
    CHECK(in["pipe.worker1.messages_in." + std::string(name)] == count);
  }
  CHECK(out.count("pipe.worker2.messages_out.cancel") == 0);
  CHECK(out["pipe.worker2.messages_out"] == in["pipe.worker1.messages_in"]);
  CHECK(out["pipe.worker2.bytes_out"] == std::to_string(4 * (2 << 20) + 130));
  CHECK(in["pipe.worker1.bytes_in"] == out["pipe.worker2.bytes_out"]);
  CHECK(in["pipe.worker1.bytes_out"] == "0");
}

}  // namespace
}  // namespace distrun::agents::pipe
