#include <distrun/runtime/store/rendezvous.hpp>

#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

namespace distrun::stores {
namespace {

[[noreturn]] void refuse(const std::string& url, const std::string& what) {
  throw Error(ErrorKind::InvalidArgument, "ValueError", "cannot meet at " + url + ": " + what);
}

struct Url {
  std::string whole;
  std::string scheme;
  std::string place;  // the text between "//" and "?"
  std::map<std::string, std::string> query;
};

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) query[std::string(part.substr(0, equals))] = part.substr(equals + 1);
  }
  return query;
}

Url parse(const std::string& whole) {
  const std::size_t colon = whole.find("://");
  if (colon == std::string::npos) refuse(whole, "not an address: \"scheme://\" is missing");
  const std::size_t begin = colon + 3, question = whole.find('?', begin);
  Url url{whole, whole.substr(0, colon), whole.substr(begin, question - begin), {}};
  if (question != std::string::npos) url.query = parse_query(std::string_view(whole).substr(question + 1));
  return url;
}

int number_in(const Url& url, const std::string& name, const std::string& text, int least, int most) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  if (is_number && number >= least && number <= most) return number;
  refuse(url.whole,
         name + " is \"" + text + "\", not a number from " + std::to_string(least) + " to " + std::to_string(most));
}

// Returns a number from the address, else from the argument, else for env:// from the environment.
int ask(const Url& url, const char* key, const char* called, std::optional<int> argument, int least) {
  constexpr int kMost = 1 << 20;
  const auto in_query = url.query.find(key);
  if (in_query != url.query.end() && argument) {
    refuse(url.whole, std::string("the address sets ") + key + ", and so does an argument; leave one of them out");
  }
  if (in_query != url.query.end()) return number_in(url, called, in_query->second, least, kMost);
  if (argument && *argument >= least) return *argument;
  if (url.scheme != "env") refuse(url.whole, std::string(called) + " parameter missing");
  const std::string variable = std::string(key) == "rank" ? "RANK" : "WORLD_SIZE";
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr) refuse(url.whole, "environment variable " + variable + " expected, but not set");
  return number_in(url, variable, value, least, kMost);
}

std::string variable(const Url& url, const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) refuse(url.whole, std::string("environment variable ") + name + " expected, but not set");
  return value;
}

struct Place {
  std::string host;
  std::string port;
};

// Splits "host:1", "[::1]:1", ":1".
Place split(const Url& url) {
  const std::size_t colon = url.place.rfind(':');
  const std::size_t bracket = url.place.rfind(']');
  if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket)) {
    refuse(url.whole, "port number missing");
  }
  std::string host = url.place.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host.empty() ? "localhost" : host, url.place.substr(colon + 1)};
}

std::shared_ptr<Store> tcp_store(const Url& url, const Place& place, const Rendezvous& found,
                                 base::Nanoseconds timeout) {
  TcpStoreOptions options;
  options.port = static_cast<std::uint16_t>(number_in(url, "the port", place.port, 0, 65535));
  options.is_server = found.rank == 0;
  options.timeout = timeout;
  if (options.port == 0) refuse(url.whole, "port 0 is not allowed, since other ranks could not know the chosen port");
  return std::make_shared<TcpStore>(place.host, options);
}

}  // namespace

Rendezvous rendezvous(const std::string& address, std::optional<int> rank, std::optional<int> world_size,
                      base::Nanoseconds timeout) {
  const Url url = parse(address);
  const bool is_known = url.scheme == "file" || url.scheme == "tcp" || url.scheme == "env";
  if (!is_known) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError", "No rendezvous handler for " + url.scheme + "://");
  }
  if (url.scheme == "file" && url.place.empty()) refuse(address, "path missing");
  const Place place = url.scheme == "tcp" ? split(url) : Place{};
  Rendezvous found;
  found.rank = ask(url, "rank", "rank", rank, 0);
  found.world_size = ask(url, "world_size", "world size", world_size, 1);
  if (found.rank >= found.world_size) {
    refuse(address, "rank " + std::to_string(found.rank) + " is out of range for world size " +
                        std::to_string(found.world_size));
  }
  if (url.scheme == "file") {
    found.store = std::make_shared<FileStore>(url.place, found.world_size);
    found.store->set_timeout(timeout);
  } else if (url.scheme == "tcp") {
    found.store = tcp_store(url, place, found, timeout);
  } else {
    found.store = tcp_store(url, {variable(url, "MASTER_ADDR"), variable(url, "MASTER_PORT")}, found, timeout);
  }
  return found;
}

}  // namespace distrun::stores
