#pragma once
// Groups and stores as ported tests open them.
#include <functional>
#include <memory>
#include <string>

#include <distrun/collectives.hpp>

namespace distrun::suites {

// Opens the default group, of ranks that meet at that address, with the backend shm and the library's own timeout;
// where there is one, does nothing. The end of the test is its end.
void initialize_pg(const std::string& init_method, int rank, int world_size);

// How often a port is tried that somebody else has, and what is done in between: if nothing else, up to a second of
// rest, by chance.
struct PortTries {
  int count = 10;
  std::function<void()> rest{};
};

// A store that serves itself, for five minutes' waits, at a port that its server finds.
inline TcpStoreOptions own_store() { return {.is_server = true, .world_size = 1, .timeout = std::chrono::minutes(5)}; }
// A server's port that is named and in use is tried again. Throws Error{Failed} after the last try, and at once
// whatever else the store's constructor throws.
std::shared_ptr<TcpStore> create_tcp_store(const std::string& host = "localhost",
                                           const TcpStoreOptions& options = own_store(), const PortTries& tries = {});

// Where to listen: at the first address of that interface, IPv4 if it has one; of none, at that of this machine alone.
// Throws Error{InvalidArgument} for an interface that is not there, with those that are.
std::string create_device(const std::string& interface = "");

}  // namespace distrun::suites
