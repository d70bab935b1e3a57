// Where threads wait: one function for a callstack.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/listing/function_titles.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::cli {

/// A callstack of a process at a time.
struct PlacedStack {
  StackId stack = kNoStack;
  std::uint32_t pid = kUnknownId;
  std::uint64_t time_ns = 0;
};

/// Names the function of user code that went into the kernel; of a kernel thread the leaf. Without
/// a name: module+offset, else the address.
class WaitPlaces {
 public:
  /// Both must outlive it.
  WaitPlaces(const Reader& reader, const Symbols& symbols, app::FunctionNames kind)
      : reader_(reader), symbols_(symbols), kind_(kind) {}

  /// One text each, in their order; empty without a callstack. Errors: those of the reader.
  Result<std::vector<std::string>> of(std::span<const PlacedStack> stacks);

 private:
  std::string place_of(std::span<const Frame> frames, std::uint32_t pid, std::uint64_t time_ns);

  const Reader& reader_;
  const Symbols& symbols_;
  app::FunctionNames kind_;
  std::vector<CodeLocation> locations_;
};

}  // namespace stackpack::cli
