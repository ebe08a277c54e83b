#pragma once
// A coordinator and nodes that join it, for tests of both sides.
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runner/nodes/dial.hpp>
#include <distrun/runner/nodes/listener.hpp>

#include "../support/loop.hpp"

namespace distrun::nodes::joining {

inline constexpr char kSecret[] = "open sesame";
inline constexpr char kVersion[] = "distrun 1.2.3";

inline Join join_of(const std::string& host) {
  return {host, "machine-of-" + host, ::getpid(), kVersion, {"10.0.0.7"}, {host, 12, 0, 2, ""}};
}

inline DialSettings dial_to(std::uint16_t port, const std::string& host) {
  DialSettings settings;
  settings.places = {{"127.0.0.1", port}};
  settings.secret = kSecret;
  settings.join = join_of(host);
  return settings;
}

// A coordinator on the test's loop, for the hosts node01 and node02.
struct Stage {
  explicit Stage(Listener::Settings wanted = {}) {
    if (wanted.addresses.empty()) wanted.addresses = {"127.0.0.1"};
    wanted.secret = kSecret;
    wanted.version = kVersion;
    wanted.hosts = {"node01", "node02"};
    Listener::Handlers handlers;
    handlers.on_joined = [this](Join join, std::unique_ptr<Link> link) {
      joins.push_back(std::move(join));
      Link::Handlers following;
      following.on_frame = [this](const wire::Frame&) { ++frames; };
      following.on_lost = [this](const std::string& why) { lost.push_back(why); };
      link->follow(std::move(following));
      links.push_back(std::move(link));
    };
    handlers.on_refused = [this](const std::string& why) { refused.push_back(why); };
    listener = std::make_unique<Listener>(loop, std::move(wanted), std::move(handlers));
  }
  std::uint16_t port() const { return listener->places().front().port; }
  bool until(const std::function<bool()>& done) { return testing::run_until(loop, done); }
  void listen() { testing::run_ready(loop); }

  io::Loop loop;
  std::unique_ptr<Listener> listener;
  std::vector<Join> joins;
  std::vector<std::unique_ptr<Link>> links;
  std::vector<std::string> lost, refused;
  int frames = 0;
};

// A node that dials on a thread: it joins, sends a frame, and stays until its coordinator closes the link.
class DialingNode {
 public:
  explicit DialingNode(DialSettings settings)
      : thread_("node", [this, settings = std::move(settings)] { run(settings); }) {}
  ~DialingNode() { thread_.join(); }

  bool is_over() const { return is_over_; }
  // Valid once it is over; empty: it joined.
  const std::string& error() const { return error_; }

 private:
  void run(const DialSettings& settings) {
    io::Loop loop;
    try {
      const std::unique_ptr<Link> link = dial(loop, settings);
      bool is_lost = false;
      Link::Handlers handlers;
      handlers.on_frame = [](const wire::Frame&) {};
      handlers.on_lost = [&](const std::string&) { is_lost = true; };
      link->follow(std::move(handlers));
      link->send(wire::pack_frame(wire::NodeFrame::Joined, 0, {}));
      testing::run_until(loop, [&] { return is_lost; });
    } catch (const Error& error) {
      error_ = error.what();
    }
    is_over_ = true;
  }

  std::string error_;
  std::atomic<bool> is_over_{false};
  base::Thread thread_;
};

}  // namespace distrun::nodes::joining
