#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::query {

/// All columns of some samples, whichever of them are asked for.
class ColumnsOfSamples {
 public:
  /// Valid until the next call.
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

}  // namespace stackpack::query
