#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "app/merge/input_processes.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Which process a thread of an input belonged to at a time. Threads of different sources may have
/// one number.
class SourceThreads {
 public:
  /// Errors: those of the reader and of InputProcesses::find.
  static Result<SourceThreads> of(const Reader& reader, InputProcesses& processes);

  /// `rank`: of the source. kUnknownId of a thread that is not known.
  [[nodiscard]] std::uint32_t pid_of(std::uint32_t rank, std::uint32_t tid,
                                     std::uint64_t time_ns) const;

 private:
  struct Life {
    std::uint64_t start_ns = 0;
    std::uint32_t pid = kUnknownId;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Life>> lives_;  // by start
};

}  // namespace stackpack::app
