#pragma once
// Opens groups and stores as ported tests do.
#include <functional>
#include <memory>
#include <string>

#include <distrun/collectives.hpp>

namespace distrun::suites {

// Opens the default group, with the backend shm (gloo on several hosts) and the library's default timeout; the ranks
// meet at `init_method`. Does nothing if there is a group. The end of the test closes it.
void initialize_pg(const std::string& init_method, int rank, int world_size);

// How many times a busy port is tried, and what runs between tries: by default a random sleep of up to a second.
struct PortTries {
  int count = 10;
  std::function<void()> rest{};
};

// Options of a store that serves itself, with a timeout of five minutes, at any free port.
inline TcpStoreOptions own_store() { return {.is_server = true, .world_size = 1, .timeout = std::chrono::minutes(5)}; }
// Retries while a named server port is in use. Throws Error{Failed} after the last try, and anything else that the
// store's constructor throws at once.
std::shared_ptr<TcpStore> create_tcp_store(const std::string& host = "localhost",
                                           const TcpStoreOptions& options = own_store(), const PortTries& tries = {});

// Returns the first address of that interface, IPv4 if it has one; without an interface the loopback address. Throws
// Error{InvalidArgument}, with the existing interfaces, for an unknown one.
std::string create_device(const std::string& interface = "");

}  // namespace distrun::suites
