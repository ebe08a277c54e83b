#include <agents/pipe/transports/address.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/core/hosts.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kAddressTextMax = 256;
constexpr std::size_t kNameMax = 100;  // an abstract name has 107 bytes

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "address \"" + base::one_line(text) + "\" is not a worker's: " + why);
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.size() <= kNameMax && std::all_of(text.begin(), text.end(), fits);
}

bool is_v6(const std::string& host) { return host.find(':') != std::string::npos; }

bool is_host(const std::string& host) {
  in6_addr number{};
  return ::inet_pton(is_v6(host) ? AF_INET6 : AF_INET, host.c_str(), &number) == 1;
}

constexpr std::string_view kHost = ";host:", kRank = ";rank:", kPid = ";pid:";

// Returns 0 for an invalid number.
template <class Number>
Number number_of(std::string_view text) noexcept {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && text.front() != '0' && number > 0 ? number : Number{0};
}

Place tcp_place(std::string_view whole, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse(whole, "it has a host without a port");
  std::string_view host = text.substr(0, colon);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  Place place{SocketKind::Tcp, std::string(host), number_of<std::uint16_t>(text.substr(colon + 1))};
  if (is_v6(place.host) != has_brackets || !is_host(place.host)) refuse(whole, "its host is not an IP address");
  if (place.port == 0) refuse(whole, "its port is not in the range 1 to 65535");
  return place;
}

Place parse_place(std::string_view whole, std::string_view text) {
  if (text.starts_with("tcp:")) return tcp_place(whole, text.substr(4));
  if (!text.starts_with("uds:")) refuse(whole, "each part must begin with uds: or tcp:");
  if (!is_name(text.substr(4))) refuse(whole, "its name must have 1 to 100 letters, digits, '-', '_' or '.'");
  return {SocketKind::Uds, std::string(text.substr(4)), 0};
}

}  // namespace

const char* name_of(SocketKind kind) noexcept { return kind == SocketKind::Uds ? "uds" : "tcp"; }

std::string to_string(const Place& place) {
  if (place.kind == SocketKind::Uds) return "uds:" + place.host;
  return "tcp:" + (is_v6(place.host) ? "[" + place.host + "]" : place.host) + ":" + std::to_string(place.port);
}

std::string to_string(const Address& address) {
  std::string text;
  for (const Place& place : address) text += (text.empty() ? "" : ";") + to_string(place);
  return text;
}

Address parse_address(const std::string& text) {
  if (text.size() > kAddressTextMax) refuse(text, "it has more than " + std::to_string(kAddressTextMax) + " bytes");
  Address address;
  const std::string_view host = host_in(text);
  std::string_view rest = std::string_view(text).substr(0, std::min(text.find(kHost), text.rfind(kPid)));
  if (text.rfind(kPid) != std::string::npos && pid_in(text) == 0) refuse(text, "its pid is not a positive number");
  for (bool is_last = false; !is_last;) {
    const std::size_t end = rest.find(';');
    is_last = end == std::string_view::npos;
    Place place = parse_place(text, rest.substr(0, end));
    for (const Place& other : address) {
      if (other.kind == place.kind) refuse(text, "it has two of " + std::string(name_of(place.kind)));
    }
    address.push_back(std::move(place));
    if (!is_last) rest.remove_prefix(end + 1);
  }
  if (text.find(kHost) != std::string::npos && !is_name(host)) refuse(text, "its host has no valid name");
  if (!is_far(text)) return address;
  std::erase_if(address, [](const Place& place) { return place.kind == SocketKind::Uds; });
  if (!address.empty()) return address;
  refuse(text, "it is on host " + std::string(host) +
                   ", where only TCP reaches it, and it has no TCP; use the transports best or tcp (--rpc-transport)");
}

std::string_view host_in(const std::string& address) noexcept {
  const std::size_t at = address.find(kHost);
  if (at == std::string::npos) return {};
  const std::string_view rest = std::string_view(address).substr(at + kHost.size());
  return rest.substr(0, rest.find(';'));
}

int rank_in(const std::string& address) noexcept {
  const std::size_t at = address.find(kRank);
  if (at == std::string::npos) return -1;
  int rank = -1;
  const auto parsed = std::from_chars(address.data() + at + kRank.size(), address.data() + address.size(), rank);
  return parsed.ec == std::errc() ? rank : -1;
}

bool is_far(const std::string& address) noexcept {
  const core::Hosts& hosts = core::known_hosts();
  const std::string_view host = host_in(address);
  return hosts.are_several() && !host.empty() && host != hosts.name();
}

int pid_in(const std::string& address) noexcept {
  const std::size_t at = address.rfind(kPid);
  return at == std::string::npos ? 0 : number_of<int>(std::string_view(address).substr(at + kPid.size()));
}

SocketAddress socket_address(const Place& place) {
  SocketAddress address;
  if (place.kind == SocketKind::Uds) {
    if (!is_name(place.host)) refuse(to_string(place), "its name is invalid");
    sockaddr_un unix_address{};
    unix_address.sun_family = AF_UNIX;
    std::memcpy(unix_address.sun_path + 1, place.host.data(), place.host.size());
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + place.host.size());
    std::memcpy(&address.bytes, &unix_address, address.size);
    return address;
  }
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(place.port);
  if (::inet_pton(AF_INET, place.host.c_str(), &v4.sin_addr) == 1) {
    address.size = sizeof v4;
    std::memcpy(&address.bytes, &v4, sizeof v4);
  } else if (::inet_pton(AF_INET6, place.host.c_str(), &v6.sin6_addr) == 1) {
    address.size = sizeof v6;
    std::memcpy(&address.bytes, &v6, sizeof v6);
  } else {
    refuse(to_string(place), "its host is not an IP address");
  }
  return address;
}

}  // namespace distrun::agents::pipe
