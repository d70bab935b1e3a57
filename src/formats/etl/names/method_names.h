#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/function_fact.h"
#include "capture/loss_counters.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Names of .NET methods, read from the payloads of their events once more.
class MethodNames final : public capture::NameSource {
 public:
  /// Both must outlive this.
  MethodNames(io::ByteSource& trace, capture::LossCounters& losses)
      : trace_(trace), losses_(losses) {}

  /// `offset` and `bytes`: of a payload in the file.
  Result<bool> read(std::uint64_t offset, std::uint32_t bytes, std::string& name) override;

 private:
  io::ByteSource& trace_;
  capture::LossCounters& losses_;
  std::vector<std::byte> payload_;
};

}  // namespace stackpack::etl
