#pragma once
// Runs distrun for an invocation, disturbs it, and collects what can be observed afterwards. Each has a separate
// sandbox, so several can play at the same time.
#include <string>
#include <vector>

#include "draw.hpp"
#include "verify.hpp"

namespace distrun::soak {

struct Programs {
  std::string distrun;
  std::string daemon;
  std::string plugin;
  std::string neighbour;
};

// Returns the arguments for distrun that select tests and say how they run; the same for one test as for many.
Texts arguments_for(const Invocation& invocation, const std::string& plugin);

class Play {
 public:
  // `small_disks`: the temporary directory may be a small disk. If `keep` is not empty and something is wrong, reports
  // are copied to that directory for inspection.
  Play(Programs programs, bool small_disks, std::string keep)
      : programs_(std::move(programs)), small_disks_(small_disks), keep_(std::move(keep)) {}

  // Throws std::exception if distrun cannot be started.
  std::vector<Checked> play(const Invocation& invocation) const;

 private:
  Programs programs_;
  bool small_disks_;
  std::string keep_;
};

}  // namespace distrun::soak
