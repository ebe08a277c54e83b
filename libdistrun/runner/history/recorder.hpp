#pragma once
// Writes one run to the tables of the history (schema.hpp), within a transaction of the caller.
#include <functional>
#include <optional>
#include <string>

#include <distrun/runner/history/database.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::history {

class Recorder {
 public:
  // `database` must outlive the recorder. Keeps the newest `results_max` results of each test in the run.
  Recorder(Database& database, int results_max);

  // Returns false, without a change, if a run of that id exists.
  bool record(const runner::RunRecord& run, const std::function<std::string(const std::string& plugin)>& project_of);

 private:
  void record_test(const runner::TestRecord& test, const std::string& project, std::int64_t run, std::int64_t at_ms,
                   std::int64_t position);
  std::int64_t test_of(const runner::TestRecord& test, const std::string& project);
  std::int64_t variant_of(const runner::Variant& variant);
  // Updates the verdict and the median that the next run reads.
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
