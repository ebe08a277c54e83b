#pragma once
// Makes this process one of a test's ranks on one of several hosts, for a scope. Addresses of loopback stand for hosts.
#include <cstdlib>
#include <string>

#include <distrun/runtime/core/hosts.hpp>

namespace distrun::testing {

class OnHost {
 public:
  // As $DISTRUN_HOSTS and $DISTRUN_HOST_ADDRESS: OnHost("a=0;b=1", "127.0.0.2", 1).
  OnHost(const std::string& hosts, const std::string& address, int rank) {
    ::setenv("DISTRUN_HOSTS", hosts.c_str(), 1);
    ::setenv("DISTRUN_HOST_ADDRESS", address.c_str(), 1);
    core::set_rank_of_process(rank);
  }
  ~OnHost() {
    ::unsetenv("DISTRUN_HOSTS");
    ::unsetenv("DISTRUN_HOST_ADDRESS");
    core::set_rank_of_process(-1);
  }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;
};

}  // namespace distrun::testing
