#include <distrun/common/store_server/store_server.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <optional>
#include <stdexcept>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/serving.hpp>
#include <distrun/common/store_server/tcp_address.hpp>

namespace distrun::stores {
namespace {

// Converts errors of Asio, such as missing descriptors, into Error{Overloaded}.
std::exception_ptr as_ours(const std::exception_ptr& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::runtime_error& error) {
    return base::error_if_memory(
        [&] { return Error(ErrorKind::Overloaded, "OSError", std::string("cannot serve a store: ") + error.what()); });
  } catch (...) {
    return thrown;
  }
}

// Returns false if a handler has thrown, which happens only when memory runs out. The other handlers can continue.
bool ends(Serving& serving, void (io::Loop::*run)()) noexcept {
  try {
    (serving.loop().*run)();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Returns when the loop is stopped.
void run_to_end(Serving& serving) noexcept {
  bool is_over = ends(serving, &io::Loop::run);
  while (!is_over) {
    serving.go_on();
    is_over = ends(serving, &io::Loop::go_on);
  }
}

// Stops the loop at the pipe's end. What is written into the pipe has no meaning, and is thrown away.
void stop_at_end(const io::FdWatch& pipe, io::Loop& loop) {
  char bytes[256];
  const ssize_t count = ::read(pipe.fd(), bytes, sizeof bytes);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) loop.stop();
}

}  // namespace

void serve_store(base::Fd listening, std::string_view secret, base::Fd ends_with, const ServerLimits& limits) {
  std::atomic<int> refused{0};
  std::optional<Serving> serving;
  std::optional<io::FdWatch> end;
  try {
    base::set_nonblocking(ends_with.get());
    serving.emplace(std::move(listening), secret, refused, limits);
    end.emplace(serving->loop(), std::move(ends_with), [&] { stop_at_end(*end, serving->loop()); });
  } catch (...) {
    std::rethrow_exception(as_ours(std::current_exception()));
  }
  run_to_end(*serving);
}

class StoreServer::Impl {
 public:
  Impl(const std::string& host, std::uint16_t port, std::string_view secret, const ServerLimits& limits)
      : thread_("distrun-store", [this, host, port, secret = std::string(secret), limits, listens = listens_] {
          serve(host, port, secret, limits, *listens);
        }) {
    port_ = listens_->get_future().get();
  }
  ~Impl() { loop_->stop(); }

  std::uint16_t port() const noexcept { return port_; }
  int refused() const noexcept { return refused_.load(); }

 private:
  using Listens = std::promise<std::uint16_t>;

  void serve(const std::string& host, std::uint16_t port, std::string_view secret, const ServerLimits& limits,
             Listens& listens) {
    std::optional<Serving> serving;
    try {
      base::Fd socket = listen_for_store(host, port);
      const std::uint16_t found = port_of(socket.get());
      serving.emplace(std::move(socket), secret, refused_, limits);
      loop_ = &serving->loop();
      loop_->post([&listens, found] { listens.set_value(found); });  // the loop runs by then
    } catch (...) {
      return listens.set_exception(as_ours(std::current_exception()));
    }
    run_to_end(*serving);
  }

  const std::shared_ptr<Listens> listens_ = std::make_shared<Listens>();
  io::Loop* loop_ = nullptr;  // valid until it is stopped; set before the constructor ends
  std::uint16_t port_ = 0;
  std::atomic<int> refused_{0};
  base::Thread thread_;
};

StoreServer::StoreServer(const std::string& host, std::uint16_t port, std::string_view secret,
                         const ServerLimits& limits)
    : impl_(std::make_unique<Impl>(host, port, secret, limits)) {}
StoreServer::~StoreServer() = default;
std::uint16_t StoreServer::port() const noexcept { return impl_->port(); }
int StoreServer::refused() const noexcept { return impl_->refused(); }

}  // namespace distrun::stores
