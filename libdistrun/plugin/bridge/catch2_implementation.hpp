#pragma once
// Catch2 with its implementation, which is to be in one source of a plugin. Its handlers of signals
// are left out: a rank's own see crashes.
#ifndef CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_RUNNER
#endif
#ifndef CATCH_CONFIG_NO_POSIX_SIGNALS
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#endif
#include <catch2/catch.hpp>
