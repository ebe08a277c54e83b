#include <distrun/runner/nodes/launcher.hpp>

#include <signal.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::nodes {

Launcher::Launcher(io::Loop& loop, Settings settings, Handlers handlers)
    : loop_(loop),
      settings_(std::move(settings)),
      handlers_(std::move(handlers)),
      join_deadline_(base::deadline_after(settings_.join_timeout, loop.clock().now())),
      attention_(loop, [this] { look(); }),
      join_alarm_(loop, [this] { look(); }),
      end_alarm_(loop, [this] { push_on(); }) {
  DISTRUN_ASSERT(settings_.secret.find('\n') == settings_.secret.npos);
  for (const EngineCommand& command : engine_commands(settings_.engine, settings_.hosts, settings_.node)) {
    start(command);
  }
  join_alarm_.set(join_deadline_);
}

Launcher::~Launcher() = default;

void Launcher::start(const EngineCommand& command) {
  engines_.push_back(std::make_unique<EngineProcess>(loop_, command.words, settings_.secret + "\n",
                                                     [this] { attention_.set(loop_.clock().now()); }));
  for (const std::string& host : command.hosts) hosts_.push_back({host, engines_.size() - 1});
}

void Launcher::joined(const std::string& name) {
  for (Host& host : hosts_) {
    if (host.name == name && host.state == HostState::Awaited) host.state = HostState::Joined;
  }
}

void Launcher::lost(const std::string& name) {
  for (Host& host : hosts_) {
    if (host.name == name && host.state == HostState::Joined) host.state = HostState::Lost;
  }
}

bool Launcher::has_ended(const std::string& name) const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [&](const Host& host) { return host.name != name || engines_[host.engine]->has_ended(); });
}

// Finds hosts that failed to join, and the end of everything.
void Launcher::look() {
  if (stage_ != Stage::Runs) {
    if (has_ended()) {
      end_alarm_.cancel();
      if (const auto on_ended = std::exchange(handlers_.on_ended, nullptr)) on_ended();
    }
    return;
  }
  const std::vector<Failure> failures = take_failures();
  const auto handlers = handlers_;  // they may destroy this
  if (handlers.on_engine_ended) handlers.on_engine_ended();
  if (!failures.empty()) handlers.on_failed(failures);
}

std::vector<Launcher::Failure> Launcher::take_failures() {
  const bool is_late = loop_.clock().now() >= join_deadline_;
  std::vector<Failure> failures;
  for (Host& host : hosts_) {
    if (host.state != HostState::Awaited || !(is_late || engines_[host.engine]->has_ended())) continue;
    host.state = HostState::Failed;
    failures.push_back({host.name, why(host, is_late)});
  }
  return failures;
}

std::string Launcher::why(const Host& host, bool is_late) const {
  const EngineProcess& engine = *engines_[host.engine];
  std::string text = engine.has_ended() ? host.name + ": " + engine.end_text() + " before its node joined"
                                        : host.name + " did not join within " + base::human(settings_.join_timeout);
  if (!engine.has_ended() && is_late && engine.last_words().empty()) {
    text += "; can the host reach " + settings_.node.joins.front() + "? (--join-timeout waits longer)";
  }
  return text + words_of(engine);
}

std::string Launcher::words_of(const EngineProcess& engine) const {
  const std::string words = engine.last_words();
  return words.empty() ? "" : words.front() == '\n' ? ":" + words : ": " + words;
}

std::string Launcher::words_about(const std::string& name) const {
  for (const Host& host : hosts_) {
    if (host.name != name) continue;
    const EngineProcess& engine = *engines_[host.engine];
    const std::string words = words_of(engine);
    if (engine.has_ended()) return engine.end_text() + words;
    return words.empty() ? "" : "output of its launcher" + words;
  }
  return "";
}

std::vector<pid_t> Launcher::pids() const {
  std::vector<pid_t> pids;
  for (const auto& engine : engines_) {
    if (!engine->has_ended()) pids.push_back(engine->pid());
  }
  return pids;
}

bool Launcher::has_ended() const {
  return std::all_of(engines_.begin(), engines_.end(), [](const auto& engine) { return engine->has_ended(); });
}

void Launcher::end() {
  if (stage_ != Stage::Runs) return;
  stage_ = Stage::Asked;
  join_alarm_.cancel();
  attention_.set(loop_.clock().now());
  end_alarm_.set_after(settings_.terminate_after);
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    if (!has_joined_host(i)) terminate(*engines_[i]);
  }
}

bool Launcher::has_joined_host(std::size_t engine) const {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [engine](const Host& host) { return host.engine == engine && host.state == HostState::Joined; });
}

void Launcher::terminate(EngineProcess& engine) {
  engine.close_input();
  engine.signal(SIGTERM);
}

void Launcher::push_on() {
  const bool kills = stage_ == Stage::Terminated;
  stage_ = kills ? Stage::Killed : Stage::Terminated;
  for (const auto& engine : engines_) {
    terminate(*engine);
    if (kills) engine->signal(SIGKILL);
  }
  if (!kills) end_alarm_.set_after(settings_.kill_after);
}

}  // namespace distrun::nodes
