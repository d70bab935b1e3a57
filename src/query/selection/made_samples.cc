#include "query/selection/made_samples.h"

#include <tuple>
#include <utility>
#include <vector>

#include "io/directories.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::query {

namespace {

// All columns of some samples, whichever of them are asked for.
class ColumnsOfSamples {
 public:
  // Valid until the next call.
  SampleColumns of(std::span<const StoredSample> block) {
    const auto fill = [block](auto& column, auto member) {
      column.clear();
      for (const StoredSample& sample : block) {
        column.push_back(sample.*member);
      }
    };
    fill(time_, &StoredSample::time_ns);
    fill(pid_, &StoredSample::pid);
    fill(tid_, &StoredSample::tid);
    fill(cpu_, &StoredSample::cpu);
    fill(event_, &StoredSample::event);
    fill(weight_, &StoredSample::weight);
    fill(origin_, &StoredSample::origin);
    fill(flags_, &StoredSample::flags);
    fill(stack_, &StoredSample::stack);
    return {block.size(), time_,   pid_,   tid_,   cpu_, event_,
            weight_,      origin_, flags_, stack_, {},   {}};
  }

 private:
  std::vector<std::uint64_t> time_;
  std::vector<std::uint32_t> pid_;
  std::vector<std::uint32_t> tid_;
  std::vector<std::uint32_t> cpu_;
  std::vector<std::uint32_t> event_;
  std::vector<std::uint64_t> weight_;
  std::vector<StackOrigin> origin_;
  std::vector<std::uint8_t> flags_;
  std::vector<StackId> stack_;
};

}  // namespace

SamplesByTime::SamplesByTime() : rows_(io::temporary_directory(), kRows) {}

bool SamplesByTime::ByTime::before(const Row& a, const Row& b) {
  return std::tuple(a.sample.time_ns, a.number) < std::tuple(b.sample.time_ns, b.number);
}

Result<const StoredSample*> SamplesByTime::next() {
  const Result<const Row*> row = rows_.next();
  if (!row) {
    return row.error();
  }
  return *row == nullptr ? nullptr : &(*row)->sample;
}

void read_samples_from(SampleSource samples, CaptureView& view) {
  view.fields = {};
  view.parts = {};
  view.columns = [samples](const SampleScan& scan,
                           const std::function<bool(const SampleColumns&)>& visit) {
    ColumnsOfSamples columns;
    return samples(scan.query,
                   [&](std::span<const StoredSample> block) { return visit(columns.of(block)); });
  };
  view.samples = std::move(samples);
}

}  // namespace stackpack::query
