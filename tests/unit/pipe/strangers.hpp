#pragma once
// Ends of a handshake between workers that send what a test wants.
#include <catch2/catch.hpp>

#include <poll.h>

#include <string>
#include <utility>
#include <vector>

#include <agents/pipe/greeting_line.hpp>
#include <agents/pipe/handshake.hpp>
#include <agents/pipe/transports/listener.hpp>
#include <distrun/common/base/error.hpp>

#include "desk.hpp"

namespace distrun::agents::pipe::testing {

inline bool wait_for_input(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(base::Milliseconds(kLong).count())) == 1;
}

// Returns the next frame without its length; empty: the other side closes instead.
inline wire::Bytes next_frame(GreetingLine& line) {
  try {
    for (;;) {
      if (auto frame = line.receive()) return *frame;
      REQUIRE(wait_for_input(line.fd()));
    }
  } catch (const Error&) {
    return {};
  }
}

inline GreetingLine dial_first(Desk& desk) {
  return GreetingLine(dial(parse_address(desk.io_thread.address())[0]).socket);
}

inline void say(GreetingLine& line, const wire::Bytes& bytes) {
  line.put(bytes);
  REQUIRE(line.flush());
}

inline wire::Bytes opening_of(const std::string& nonce) {
  Opening opening;
  opening.nonce = nonce;
  return pack(opening);
}

// Opens a handshake, and returns the nonces that both sides must prove.
inline proof::Nonces open(GreetingLine& line) {
  proof::Nonces nonces{proof::make_nonce(), {}};
  say(line, opening_of(nonces.connector));
  const Answer answer = read_answer(wire::view_of(next_frame(line)));
  REQUIRE(std::holds_alternative<Challenge>(answer));
  nonces.listener = std::get<Challenge>(answer).nonce;
  check(std::get<Challenge>(answer), identity_of(1), nonces);
  return nonces;
}

inline std::string refusal_on(GreetingLine& line) {
  const wire::Bytes frame = next_frame(line);
  if (frame.empty()) return "closed";
  const Answer answer = read_answer(wire::view_of(frame));
  REQUIRE(std::holds_alternative<Refusal>(answer));
  CHECK(next_frame(line).empty());
  return std::get<Refusal>(answer).reason;
}

// Returns the refusal of bytes sent in place of an Opening.
inline std::string refusal_to(const wire::Bytes& bytes, Desk& desk) {
  GreetingLine line = dial_first(desk);
  say(line, bytes);
  return refusal_on(line);
}

template <class Change>
std::string refusal_to_hello(const Identity& own, WorkerId to, Desk& desk, const Change& change) {
  GreetingLine line = dial_first(desk);
  Hello hello = make_hello(own, to, open(line));
  change(hello);
  say(line, pack(hello));
  return refusal_on(line);
}
inline std::string refusal_to_hello(const Identity& own, WorkerId to, Desk& desk) {
  return refusal_to_hello(own, to, desk, [](Hello&) {});
}

inline wire::Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A listener with answers by the test.
struct Stranger {
  explicit Stranger(SocketKind kind_ = SocketKind::Uds)
      : kind(kind_), listener(kind == SocketKind::Uds, kind == SocketKind::Uds ? "" : "127.0.0.1") {}

  SocketKind kind;
  Listener listener;
  GreetingLine line;

  std::string address() const { return to_string(listener.address()); }
  void accept() {
    REQUIRE(wait_for_input(listener.fd(kind)));
    line = GreetingLine(listener.accept(kind));
  }
  // Receives the Opening, answers with `bytes`, and returns it.
  Opening answer_opening(const wire::Bytes& bytes) {
    accept();
    const Opening opening = read_opening(wire::view_of(next_frame(line)));
    say(line, bytes);
    return opening;
  }
  // Proves that it knows the secret.
  void challenge() {
    accept();
    const Opening opening = read_opening(wire::view_of(next_frame(line)));
    say(line, pack(make_challenge(identity_of(2), {opening.nonce, proof::make_nonce()})));
  }
  void answer(const wire::Bytes& bytes) {
    challenge();
    REQUIRE(next_frame(line).size() > 1);
    say(line, bytes);
  }
};

}  // namespace distrun::agents::pipe::testing
