#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "stackpack/sources.h"

namespace stackpack::query {

/// Which source of a merged file a process is of, and the pid that was recorded.
class PidSources {
 public:
  /// `merged`: false, every process is of the one source. The sources must outlive this.
  PidSources(const std::vector<MergedSource>& sources, bool merged) : sources_(sources) {
    std::uint64_t next = 1;
    for (const MergedSource& source : sources) {
      if (merged) {
        firsts_.push_back(next);
        next += source.pids.size();
      }
    }
    end_ = next;
  }

  struct Origin {
    std::uint32_t source = kUnknownId;
    std::uint32_t pid = kUnknownId;
  };
  [[nodiscard]] Origin of(std::uint32_t pid) const {
    if (firsts_.empty()) {
      return {0, pid};
    }
    if (pid < 1 || pid >= end_) {
      return {};
    }
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), std::uint64_t{pid});
    const auto source = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    return {static_cast<std::uint32_t>(source),
            sources_[source].pids[static_cast<std::size_t>(pid - firsts_[source])]};
  }

 private:
  const std::vector<MergedSource>& sources_;
  std::vector<std::uint64_t> firsts_;
  std::uint64_t end_ = 0;
};

}  // namespace stackpack::query
