#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "core/number_table.h"
#include "core/sort_rows.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum CountField : std::size_t {
  kCountCallstack,
  kCountEvent,
  kCountPid,
  kCountOrigin,
  kCountSamples,
  kCountWeight,
  kCountFieldCount
};

constexpr std::array<Field, kCountFieldCount> kCountFields{{
    {"callstack", ColumnType::kUInt32, true},
    {"event", ColumnType::kDictionary, false},
    {"pid", ColumnType::kUInt32, true},
    {"origin", ColumnType::kDictionary, false},
    {"samples", ColumnType::kUInt64, false},
    {"weight", ColumnType::kUInt64, false},
}};

struct CountKey {
  std::uint32_t callstack = CallstackNumbers::kNone;
  std::uint32_t event = 0;
  std::uint32_t pid = kUnknownId;
  StackOrigin origin = StackOrigin::kNone;

  friend bool operator==(const CountKey&, const CountKey&) = default;
};

struct CountKeyHash {
  std::uint64_t operator()(const CountKey& key) const {
    const std::uint64_t high = core::mix_bits(std::uint64_t{key.callstack} << 32 | key.pid);
    return core::mix_bits(high ^
                          (std::uint64_t{key.event} << 8 | static_cast<std::uint64_t>(key.origin)));
  }
};

struct CountRow {
  CountKey key;
  std::uint64_t samples = 0;
  std::uint64_t weight = 0;
};

std::uint64_t sum_at_most(std::uint64_t sum, std::uint64_t value) {
  return sum + value < sum ? std::numeric_limits<std::uint64_t>::max() : sum + value;
}

class CountTable {
 public:
  void add(const CountKey& key, std::uint64_t samples, std::uint64_t weight) {
    const std::uint32_t number = keys_.number(key);
    if (number == rows_.size()) {
      rows_.push_back({key});
    }
    rows_[number].samples = sum_at_most(rows_[number].samples, samples);
    rows_[number].weight = sum_at_most(rows_[number].weight, weight);
  }

  std::vector<CountRow> take() {
    core::sort_rows(rows_, [](const CountRow& a, const CountRow& b) {
      const auto order = [](const CountRow& row) {
        return std::tuple(row.key.callstack, row.key.event, row.key.pid, row.key.origin);
      };
      return order(a) < order(b);
    });
    return std::move(rows_);
  }

 private:
  core::NumberTable<CountKey, CountKeyHash> keys_;
  std::vector<CountRow> rows_;
};

/// All counts of a file. Threads: one at a time.
class Counts {
 public:
  Counts(SharedTables tables, const ArrowOptions& options) : tables_(std::move(tables)) {
    query_.from_ns = options.from_ns;
    query_.to_ns = options.to_ns;
    query_.any_order = true;
  }

  Result<const std::vector<CountRow>*> rows() {
    using Found = Result<const std::vector<CountRow>*>;
    if (!made_) {
      const auto stacks = tables_->stacks();
      if (!stacks) {
        return Found(stacks.error());
      }
      CountTable counts;
      const Status counted = tables_->reader().has_samples() ? count_samples(**stacks, counts)
                                                             : take_counts(**stacks, counts);
      if (!counted) {
        return Found(counted.error());
      }
      rows_ = counts.take();
      made_ = true;
    }
    return Found(&rows_);
  }

 private:
  Status count_samples(const CallstackNumbers& stacks, CountTable& counts) {
    SampleScan scan;
    scan.query = query_;
    scan.columns =
        kTimeColumn | kPidColumn | kStackColumn | kEventColumn | kOriginColumn | kWeightColumn;
    std::vector<std::uint32_t> numbers;
    Status found;
    const Status read = visit_samples(tables_->reader(), scan, [&](const SampleColumns& samples) {
      numbers.resize(samples.rows);
      found = stacks.find({samples.time_ns, samples.pid, samples.stack}, *cache_, numbers.data());
      for (std::size_t i = 0; found && i < samples.rows; ++i) {
        counts.add({numbers[i], samples.event[i], samples.pid[i], samples.origin[i]}, 1,
                   samples.weight[i]);
      }
      return found.has_value();
    });
    return found ? read : found;
  }

  Status take_counts(const CallstackNumbers& stacks, CountTable& counts) {
    const auto view = tables_->view();
    if (!view) {
      return view.error();
    }
    for (const StackCount& row : (*view)->stack_counts) {
      const std::uint64_t time_ns = CallstackNumbers::kCountTime;
      std::uint32_t number = 0;
      if (const Status found =
              stacks.find({{&time_ns, 1}, {&row.pid, 1}, {&row.stack, 1}}, *cache_, &number);
          !found) {
        return found;
      }
      counts.add({number, row.event, row.pid, row.origin}, row.samples, row.weight);
    }
    return {};
  }

  SharedTables tables_;
  SampleQuery query_;
  std::unique_ptr<PlaceCache> cache_ = std::make_unique<PlaceCache>();
  bool made_ = false;
  std::vector<CountRow> rows_;
};

}  // namespace

std::span<const Field> count_fields() {
  return kCountFields;
}

NextRows count_rows(const SharedTables& tables, const ArrowOptions& options) {
  auto counts = std::make_shared<Counts>(tables, options);
  return rows_in_memory(
      options.batch_rows, [counts] { return counts->rows(); },
      [tables](Batch& batch, std::size_t, const CountRow& row) {
        batch.put_number(kCountCallstack, row.key.callstack, CallstackNumbers::kNone);
        batch.put_text(kCountEvent, (*tables->view())->events[row.key.event].name);
        batch.put_number(kCountPid, row.key.pid, kUnknownId);
        batch.put_text(kCountOrigin, kOriginNames[static_cast<std::size_t>(row.key.origin)]);
        batch.put_number(kCountSamples, row.samples);
        batch.put_number(kCountWeight, row.weight);
      });
}

}  // namespace stackpack::app
