#pragma once
// Where a coordinator listens: a host and a port.
#include <cstdint>
#include <string>
#include <vector>

namespace distrun::nodes {

struct Place {
  std::string host;  // a name or a numeric address, without brackets
  std::uint16_t port = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

// Returns "node00:4711", "[::1]:4711".
std::string text_of(const Place& place);
// Reads "node00:4711,[::1]:4711". Throws Error{InvalidArgument} that begins with `source`.
std::vector<Place> parse_places(const std::string& source, const std::string& text);

// Returns the numeric addresses of this machine by which others may reach it: those of interfaces that are up, without
// loopback and those that are valid on one link only.
std::vector<std::string> addresses_of_this_machine();

}  // namespace distrun::nodes
