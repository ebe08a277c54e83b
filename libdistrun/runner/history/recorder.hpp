#pragma once
// One run, written into the tables of the history (schema.hpp). Within a transaction of the caller.
#include <functional>
#include <optional>
#include <string>

#include <distrun/runner/history/database.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::history {

class Recorder {
 public:
  // `database` must outlive it. Of each test that the run has, the newest `results_max` results are kept.
  Recorder(Database& database, int results_max);

  // False: a run of that id is there, and nothing was done.
  bool record(const runner::RunRecord& run, const std::function<std::string(const std::string& plugin)>& project_of);

 private:
  void record_test(const runner::TestRecord& test, const std::string& project, std::int64_t run, std::int64_t at_ms,
                   std::int64_t position);
  std::int64_t test_of(const runner::TestRecord& test, const std::string& project);
  std::int64_t variant_of(const runner::Variant& variant);
  // What the next run wants to know at once.
  void update(std::int64_t test);
  void drop_oldest(std::int64_t test);

  Database& database_;
  int results_max_;
  Statement find_test_;
  Statement adopt_test_;
  Statement add_test_;
  Statement find_variant_;
  Statement add_variant_;
  Statement add_result_;
  Statement newest_;
  Statement update_test_;
  Statement first_too_old_;
  Statement drop_from_;
};

}  // namespace distrun::history
