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

constexpr std::string_view kPid = ";pid:";

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
  std::string_view rest = std::string_view(text).substr(0, text.rfind(kPid));
  if (rest.size() < text.size() && pid_in(text) == 0) refuse(text, "its pid is not a positive number");
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
  return address;
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
