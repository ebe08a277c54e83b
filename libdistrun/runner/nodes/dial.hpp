#pragma once
// The node's side of the beginning of a link.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/nodes/link.hpp>
#include <distrun/runner/nodes/link_messages.hpp>
#include <distrun/runner/nodes/place.hpp>

namespace distrun::nodes {

struct DialSettings {
  std::vector<Place> places;  // where the coordinator may be reached; the first that answers is taken
  std::string secret;         // of the run
  Join join;
  base::Nanoseconds patience = std::chrono::seconds(30);
  // Becomes readable when the coordinator is gone, as the end of standard input says; -1: nothing does.
  int give_up = -1;
  LinkSettings link;
};

// Connects to the coordinator, proves the secret and joins; blocks meanwhile. Tries all addresses of all places at
// once, and again until the patience is over, since the coordinator or a firewall may be late. Throws
// Error{Disconnected} that names the places and what is wrong with each, also if the coordinator refuses this node;
// Error{Cancelled} if it is gone.
std::unique_ptr<Link> dial(io::Loop& loop, const DialSettings& settings);

}  // namespace distrun::nodes
