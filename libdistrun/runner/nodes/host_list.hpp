#pragma once
// Lists of host names as users and Slurm write them: "node[01-03,7],gpu1", "a:4,b". Names have letters, digits, '-',
// '.' and '_', and do not begin with '-', so that no command takes one for an option.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::nodes {

inline constexpr std::size_t kHostsMax = 1024;  // in one list

struct HostSlot {
  std::string name;
  int ranks = 0;  // how many may run there; 0: not said

  friend bool operator==(const HostSlot&, const HostSlot&) = default;
};

bool is_host_name(std::string_view name) noexcept;

// Returns the names of a list in Slurm's notation, in its order. Brackets hold numbers and ranges, and may occur
// several times: "rack[1-2]node[08-10]". Throws Error{InvalidArgument} that begins with `source`, the option or
// variable that the list comes from.
std::vector<std::string> expand_hosts(const std::string& source, std::string_view list);

// The same with a number of ranks after a name, or after brackets for each of their names: "a:4,node[1-2]:8". Throws
// also if a name occurs twice.
std::vector<HostSlot> parse_hosts(const std::string& source, std::string_view list);

}  // namespace distrun::nodes
