#include <distrun/runner/nodes/place.hpp>

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/store_server/tcp_address.hpp>

namespace distrun::nodes {
namespace {

constexpr std::size_t kPlacesMax = 64;

Place parse_place(const std::string& source, std::string_view text) {
  const auto refuse = [&] {
    throw Error(ErrorKind::InvalidArgument, source + " " + base::one_line(text) +
                                                ": expected HOST:PORT, as in node00:4711 or [::1]:4711; several are "
                                                "separated by commas");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) refuse();
  std::string_view host = text.substr(0, colon);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  if (!has_brackets && host.find_first_of(":[]") != host.npos) refuse();
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) refuse();
  return {std::string(host), port};
}

// Returns whether only this machine or one link knows the address.
bool is_local(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const std::uint32_t bits = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
    return bits >> 24 == 127 || bits >> 16 == 0xa9fe;
  }
  const in6_addr& bits = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&bits) || IN6_IS_ADDR_LINKLOCAL(&bits);
}

std::string numeric(const sockaddr& address) {
  const socklen_t size = address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text{};
  const int error = ::getnameinfo(&address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text.data() : "";
}

}  // namespace

std::string text_of(const Place& place) { return stores::place_of(place.host, place.port); }

std::vector<Place> parse_places(const std::string& source, const std::string& text) {
  std::vector<Place> places;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    places.push_back(parse_place(source, std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
  if (places.size() > kPlacesMax) {
    throw Error(ErrorKind::InvalidArgument, source + ": expected at most " + std::to_string(kPlacesMax) + " places");
  }
  return places;
}

std::vector<std::string> addresses_of_this_machine() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(found, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const sockaddr& address = *each->ifa_addr;
    if ((address.sa_family != AF_INET && address.sa_family != AF_INET6) || is_local(address)) continue;
    const std::string text = numeric(address);
    if (!text.empty()) addresses.push_back(text);
  }
  return addresses;
}

}  // namespace distrun::nodes
