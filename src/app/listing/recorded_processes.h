#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// Which processes of which captures the pids of a merged file are.
class RecordedProcesses {
 public:
  /// Errors: those of the reader.
  static Result<RecordedProcesses> of(const Reader& reader);

  struct Process {
    std::uint32_t source = 0;  ///< row of Reader::sources()
    std::uint32_t pid = 0;     ///< as recorded; kUnknownId: not recorded
  };
  [[nodiscard]] std::optional<Process> find(std::uint32_t pid) const;

  /// Whether the file is a merged one.
  [[nodiscard]] bool merged() const { return !sources_.empty(); }

 private:
  std::vector<MergedSource> sources_;
  std::vector<std::uint64_t> ends_;  // by source: the first pid after it
};

}  // namespace stackpack::app
