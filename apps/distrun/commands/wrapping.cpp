#include "wrapping.hpp"

#include <sys/resource.h>

#include <algorithm>

#include <distrun/common/base/error.hpp>

#include "program_path.hpp"

namespace distrun::cli {

void require_wrappers(const runner::Settings& settings) {
  for (const runner::Wrapper& each : settings.wrappers) {
    try {
      find_program(runner::wrapper_of({each}, each.rank, settings.world_size, "").front());
    } catch (const Error& error) {
      throw Error(error.kind(), std::string(each.rank < 0 ? "--wrap: " : "--wrap-rank: ") + error.what());
    }
  }
}

void raise_core_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max;
  if (limit.rlim_max == 0 || ::setrlimit(RLIMIT_CORE, &limit) != 0) {
    throw Error(ErrorKind::Failed, "--core on: the hard limit of core files is 0 here (ulimit -H -c); raise it first");
  }
}

bool keeps_files(const runner::RunRecord& run) {
  const auto is_file = [](const wire::KeyValue& note) { return note.key == runner::kKeptFile; };
  const auto has_one = [&](const runner::RankRecord& rank) {
    return std::any_of(rank.notes.begin(), rank.notes.end(), is_file);
  };
  const auto any = [&](const runner::AttemptRecord& attempt) {
    return std::any_of(attempt.ranks.begin(), attempt.ranks.end(), has_one);
  };
  return run.settings.keep_work_dir ||
         std::any_of(run.tests.begin(), run.tests.end(), [&](const runner::TestRecord& test) {
           return std::any_of(test.attempts.begin(), test.attempts.end(), any);
         });
}

}  // namespace distrun::cli
