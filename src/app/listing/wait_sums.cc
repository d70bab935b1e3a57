#include "app/listing/wait_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "app/listing/thread_names.h"
#include "query/name_pattern.h"
#include "query/selection/cut_notices.h"
#include "query/selection/idle_pools.h"

namespace stackpack::app {

namespace {

// Threads of one id, one after the other, as the file has them.
class WaitSummer {
 public:
  WaitSummer(const WaitFilter& filter, const WaitRange& range, const ThreadNames& names,
             const query::IdlePools& pools, WaitTable& table)
      : filter_(filter), range_(range), names_(names), pools_(pools), table_(table) {}

  void add(const WaitInterval& row) {
    if (!thread_ || thread_->pid != row.pid || thread_->tid != row.tid) {
      end();
      thread_.emplace();
      thread_->pid = row.pid;
      thread_->tid = row.tid;
    }
    last_ns_ = row.to_ns;
    const std::uint64_t length = length_in(row, range_);
    if (length == 0 && row.to_ns != row.from_ns) {
      return;  // it touches the range
    }
    if (row.to_ns - row.from_ns < filter_.longer_than_ns ||
        !fits_state(filter_, row, table_.reasons)) {
      return;
    }
    thread_->states[static_cast<std::size_t>(row.state)].add(length);
    if (row.state == WaitState::kBlocked) {
      thread_->blocked_by[row.reason].add(length);
    }
    any_ = true;
  }

  void end() {
    if (!thread_ || !any_) {
      thread_.reset();
      return;
    }
    any_ = false;
    thread_->name = names_.name(thread_->pid, thread_->tid, last_ns_);
    const std::string_view process = names_.process_name(thread_->pid, last_ns_);
    if (filter_.threads.empty() || query::fits_any(thread_->name, filter_.threads) ||
        query::fits_any(process, filter_.threads)) {
      thread_->is_idle_pool = pools_.has(thread_->pid, thread_->tid);
      table_.threads.push_back(std::move(*thread_));
    }
    thread_.reset();
  }

 private:
  const WaitFilter& filter_;
  const WaitRange& range_;
  const ThreadNames& names_;
  const query::IdlePools& pools_;
  WaitTable& table_;
  std::optional<ThreadWaits> thread_;
  std::uint64_t last_ns_ = 0;
  bool any_ = false;
};

}  // namespace

void WaitSum::add(std::uint64_t length_ns) {
  min_ns = count == 0 ? length_ns : std::min(min_ns, length_ns);
  max_ns = std::max(max_ns, length_ns);
  ++count;
  sum_ns += length_ns;
  const auto length = static_cast<double>(length_ns);
  squares += length * length;
}

void WaitSum::add(const WaitSum& other) {
  if (other.count == 0) {
    return;
  }
  min_ns = count == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  count += other.count;
  sum_ns += other.sum_ns;
  squares += other.squares;
}

double WaitSum::mean_ns() const {
  return count == 0 ? 0 : static_cast<double>(sum_ns) / static_cast<double>(count);
}

double WaitSum::deviation_percent() const {
  if (count < 2 || sum_ns == 0) {
    return 0;
  }
  const auto n = static_cast<double>(count);
  const double mean = mean_ns();
  const double variance = std::max(0.0, (squares - n * mean * mean) / (n - 1));
  return 100 * std::sqrt(variance / n) / mean;
}

Result<WaitTable> sum_waits(const Reader& reader, const WaitFilter& filter) {
  Result<WaitTables> tables = wait_tables(reader, filter);
  if (!tables) {
    return tables.error();
  }
  const Result<query::IdlePools> pools = query::IdlePools::find(reader);
  if (!pools) {
    return pools.error();
  }
  WaitTable table;
  table.reasons = std::move(tables->reasons);
  table.notices = query::cut_notices(reader);
  const ThreadNames names(tables->processes, tables->threads);
  const WaitRange& range = tables->range;
  WaitSummer summer(filter, range, names, *pools, table);
  const Status read = reader.intervals({range.from_ns, range.to_ns, filter.pid, filter.tid},
                                       [&summer](std::span<const WaitInterval> rows) {
                                         for (const WaitInterval& row : rows) {
                                           summer.add(row);
                                         }
                                         return true;
                                       });
  summer.end();
  return read ? Result<WaitTable>(std::move(table)) : Result<WaitTable>(read.error());
}

}  // namespace stackpack::app
