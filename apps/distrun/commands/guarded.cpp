#include "guarded.hpp"

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <cstdio>
#include <new>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

#include "exit_codes.hpp"
#include "terminal/standard_output.hpp"

namespace distrun::cli {
namespace {

int give_up(const proc::RunPlaces& places, const std::string& why) {
  std::fprintf(stderr, "distrun: %s\n", base::printable(why).c_str());
  proc::tell_stuck(proc::remove_run_files(places));
  return kInfraError;
}

}  // namespace

int guarded(const proc::RunPlaces& places, const std::function<int(proc::Coordinator)>& coordinate,
            const proc::GuardBounds& bounds) {
  return proc::run_guarded(
      places,
      [&](proc::Coordinator coordinator) -> int {
        try {
          return with_output_written(coordinate(std::move(coordinator)));
        } catch (const Error& error) {
          return give_up(places, error.what());
        } catch (const boost::system::system_error& error) {
          return give_up(places, "cannot set up the coordinator: " + base::errno_text(error.code().value()));
        } catch (const std::bad_alloc&) {
          return give_up(places, "the coordinator is out of memory: " + base::errno_text(ENOMEM));
        }
      },
      bounds);
}

}  // namespace distrun::cli
