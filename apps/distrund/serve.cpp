#include "serve.hpp"

#include <signal.h>

#include <boost/asio/signal_set.hpp>

#include <cstdio>

#include <distrun/common/base/inherited.hpp>
#include <distrun/runner/daemon/address.hpp>
#include <distrun/runner/daemon/instance_lock.hpp>
#include <distrun/runner/daemon/listener.hpp>
#include <distrun/runner/daemon/server.hpp>
#include <distrun/runner/proc/harmless_signals.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::daemon {
namespace {

ServerOptions server_options(const Options& options) {
  ServerOptions to;
  to.program = proc::program_beside("distrun");
  to.version = DISTRUN_VERSION;
  to.limits = {options.parallel, options.queued};
  to.idle_exit = options.idle_exit;
  to.log = Log::to_stderr(options.log);
  return to;
}

// Ends the server on termination signals; the second one hurries. A signal ignored at start (nohup) stays ignored, so
// that the daemon outlives its terminal.
class Ends {
 public:
  Ends(io::Loop& loop, Server& server) : signals_(loop.context(), SIGTERM), server_(server) {
    for (const int signal : {SIGINT, SIGHUP}) {
      if (!base::is_ignored(signal)) signals_.add(signal);
    }
    wait();
  }

 private:
  void wait() {
    signals_.async_wait([this](const auto& error, int) {
      if (error) return;
      server_.stop();
      wait();
    });
  }
  boost::asio::signal_set signals_;
  Server& server_;
};

}  // namespace

int serve(const Options& options) {
  proc::ignore_harmless_signals();
  ServerOptions to = server_options(options);
  prepare_folder_of(options.socket);
  const InstanceLock lock(options.socket);
  Listener listener(options.socket);
  io::Loop loop;
  Server server(loop, listener.take_socket(), std::move(to), [&] { loop.stop(); });
  const Ends ends(loop, server);
  std::printf("distrund listens at %s, %d at once\n", options.socket.c_str(), options.parallel);
  std::fflush(stdout);
  loop.run();
  return kEnded;
}

}  // namespace distrun::daemon
