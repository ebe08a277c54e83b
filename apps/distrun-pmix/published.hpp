#pragma once
// Data that ranks publish for each other by name (PMIx_Publish, MPI_Publish_name), and the lookups that wait for it.
// All ranges are the same here: there is one job. Thread-safe.
#include <pmix_server.h>

#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/common/base/byte_budget.hpp>

namespace distrun::pmix {

class Published {
 public:
  // Adds the data in `info`; directives in it say how long it is kept. PMIX_ERR_DUPLICATE_KEY if a name is taken,
  // PMIX_ERR_OUT_OF_RESOURCE beyond 16 MiB of data; then nothing is added.
  pmix_status_t publish(const pmix_proc_t& owner, const pmix_info_t info[], std::size_t count);
  // Answers by `on_found`, at once or, if a directive says so, when all keys are published, at the latest after the
  // directive's timeout. PMIX_ERR_OUT_OF_RESOURCE if 4 096 lookups wait already.
  pmix_status_t look_up(char** keys, const pmix_info_t info[], std::size_t count, pmix_lookup_cbfunc_t on_found,
                        void* context);
  // Removes the owner's data under these keys; null: all of it.
  void unpublish(const pmix_proc_t& owner, char** keys);
  // Answers the lookups that have waited for too long.
  void end_late_lookups();

 private:
  struct Datum {
    Datum(const pmix_proc_t& proc, const pmix_info_t& from, bool reads_once, base::ByteBudget& budget);
    ~Datum();
    Datum(const Datum&) = delete;
    Datum& operator=(const Datum&) = delete;

    pmix_proc_t owner;
    pmix_value_t value;
    bool once;  // it is removed when it is read
    base::CountedBytes bytes;
  };
  struct Lookup {
    std::vector<std::string> keys;
    pmix_lookup_cbfunc_t on_found = nullptr;
    void* context = nullptr;
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
  };

  bool has_all(const Lookup& lookup) const;
  void answer(const Lookup& lookup);
  void answer_complete();

  std::mutex mutex_;
  base::ByteBudget budget_{16 << 20};
  std::map<std::string, Datum> data_;  // by key
  std::list<Lookup> waiting_;
};

}  // namespace distrun::pmix
