#include "groups.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::suites {
namespace {

constexpr std::uint64_t kRestMax = 1000;  // ms

void rest_by_chance() {
  base::Rng chance(base::random_seed());
  std::this_thread::sleep_for(std::chrono::milliseconds(chance.below(kRestMax)));
}

bool is_port_in_use(const Error& error) {
  return std::string(error.what()).find("Address already in use") != std::string::npos;
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes = address.sa_family == AF_INET
                                ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
                                : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr ? text.data() : "";
}

// The network interfaces of the machine, released by the destructor.
class Interfaces {
 public:
  Interfaces() {
    if (::getifaddrs(&first_) != 0) base::throw_errno("cannot ask for the network interfaces", errno);
  }
  ~Interfaces() { ::freeifaddrs(first_); }
  Interfaces(const Interfaces&) = delete;
  Interfaces& operator=(const Interfaces&) = delete;

  // Returns an empty string if there is none.
  std::string address_of(const std::string& name, int family) const {
    for (const ifaddrs* each = first_; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family) continue;
      if (each->ifa_name == name) return text_of(*each->ifa_addr);
    }
    return "";
  }
  std::string names() const {
    std::set<std::string> all;
    for (const ifaddrs* each = first_; each != nullptr; each = each->ifa_next) all.insert(each->ifa_name);
    std::string text;
    for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

 private:
  ifaddrs* first_ = nullptr;
};

}  // namespace

void initialize_pg(const std::string& init_method, int rank, int world_size) {
  if (collectives::is_initialized()) return;
  const stores::Rendezvous found = stores::rendezvous(init_method, rank, world_size);
  collectives::init_process_group({found.store, found.rank, found.world_size, {}});
}

std::shared_ptr<TcpStore> create_tcp_store(const std::string& host, const TcpStoreOptions& options,
                                           const PortTries& tries) {
  for (int made = 1;; ++made) {
    try {
      return std::make_shared<TcpStore>(host, options);
    } catch (const Error& error) {
      const bool may_be_free_soon = options.is_server && options.port != 0 && is_port_in_use(error);
      if (!may_be_free_soon) throw;
      if (made >= tries.count) {
        throw Error(ErrorKind::Failed,
                    "Failing after " + std::to_string(made) + " retries with error: " + error.what());
      }
    }
    tries.rest ? tries.rest() : rest_by_chance();
  }
}

std::string create_device(const std::string& interface) {
  if (interface.empty()) return "127.0.0.1";
  const Interfaces all;
  for (const int family : {AF_INET, AF_INET6}) {
    if (std::string address = all.address_of(interface, family); !address.empty()) return address;
  }
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "no interface \"" + interface + "\" with an address; there are " + all.names());
}

}  // namespace distrun::suites
