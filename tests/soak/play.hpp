#pragma once
// Runs distrun for an invocation, disturbs it, and collects what can be seen of it afterwards. Each in a sandbox of its
// own, so several can play at the same time.
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

// The arguments for distrun that select a test and say how it runs; the same for a test alone as for many.
Texts arguments_for(const Invocation& invocation, const std::string& plugin);

class Play {
 public:
  // `small_disks`: the temporary directory can be one. Where findings are to be looked at, reports are copied to the
  // directory `keep` if it is not empty and something is wrong.
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
