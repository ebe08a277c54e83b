#include <distrun/runtime/store/rank_store.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

constexpr char kVariable[] = "DISTRUN_STORE";
constexpr std::string_view kTcp = "tcp://";
constexpr base::Nanoseconds kPatience = 30s;  // the server runs before the ranks do

[[noreturn]] void refuse(std::string_view value, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "$DISTRUN_STORE is \"" + std::string(value) + "\": " + why +
                  "; expected a path, or the address of a store's server, as in tcp://10.77.0.1:40123 or "
                  "tcp://[fd00::1]:40123");
}

std::uint16_t port_in(std::string_view value, std::string_view text) {
  std::uint16_t port = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_port = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size() && port != 0;
  if (!is_port) refuse(value, "\"" + std::string(text) + "\" is not a port, a number from 1 to 65535");
  return port;
}

// `value` is "tcp://HOST:PORT", with an IPv6 address in brackets.
std::shared_ptr<Store> open_served(std::string_view value) {
  const std::string_view place = value.substr(kTcp.size());
  const std::size_t colon = place.rfind(':');
  const std::size_t bracket = place.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    refuse(value, "the port is missing");
  }
  std::string host(place.substr(0, colon));
  const bool is_in_brackets = host.starts_with('[') && host.ends_with(']');
  if (is_in_brackets) host = host.substr(1, host.size() - 2);
  if (host.empty()) refuse(value, "the host is missing");
  if (!is_in_brackets && host.find(':') != std::string::npos) refuse(value, "an IPv6 address needs brackets");
  const auto store = std::make_shared<TcpStore>(
      host, TcpStoreOptions{.port = port_in(value, place.substr(colon + 1)), .timeout = kPatience});
  store->set_timeout(Store::kTimeout);
  return store;
}

}  // namespace

std::shared_ptr<Store> rank_store() {
  const char* const path = std::getenv(kVariable);
  if (path == nullptr || *path == '\0') {
    throw Error(ErrorKind::Unimplemented,
                "there is no store of a test, since $DISTRUN_STORE is not set: distrun sets it only for ranks that it "
                "starts; use rendezvous() in other processes");
  }
  if (std::string_view(path).starts_with(kTcp)) return open_served(path);
  return std::make_shared<FileStore>(path);
}

}  // namespace distrun::stores
