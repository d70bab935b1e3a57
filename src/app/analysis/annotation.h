// Where in a function the samples are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Branches that were taken, where the capture has them.
struct BranchSums {
  std::uint64_t taken = 0;
  std::uint64_t mispredicted = 0;  ///< of taken
};

/// A line of source, or an instruction, of a function.
struct AnnotatedPlace {
  std::string file;          ///< as the debug information has it; empty: no line is known
  std::uint32_t line = 0;    ///< of `file`
  std::uint64_t offset = 0;  ///< without a line: in the file of the image
  std::uint64_t self = 0;
  std::uint64_t total = 0;  ///< each sample once
  BranchSums branches{};    ///< of add_branches(); of a line
};

/// An instruction, and what the samples say of it.
struct AnnotatedInstruction {
  std::uint64_t address = 0;  ///< as the file of the image has it
  std::uint64_t offset = 0;   ///< in that file
  std::string text;
  std::uint64_t self = 0;
  /// Samples in it or in what it calls; one whose callstack has it as leaf and as caller counts
  /// twice.
  std::uint64_t total = 0;
  BranchSums branches{};  ///< of add_branches()
};

/// The code of a function in an image, or of the function that it was inlined into.
struct AnnotatedCode {
  std::string image;                               ///< path
  std::string reason;                              ///< why there are no instructions; else empty
  std::vector<AnnotatedInstruction> instructions;  ///< all of it, by address
};

/// One of the functions that are meant.
struct AnnotatedFunction {
  HotSpot spot;                        ///< all of it
  std::vector<AnnotatedPlace> places;  ///< by file and line, then those by offset
  std::vector<AnnotatedCode> code{};   ///< of add_code()
};

struct Annotation {
  HotSpots about;                            ///< what the figures are of; no rows
  std::vector<AnnotatedFunction> functions;  ///< by total
  std::vector<std::string> occurring;        ///< where none fits: names in the callstacks
  bool has_branches = false;                 ///< the capture has branches: add_branches()
};

/// `function`: as query::FunctionPattern; of those that fit best each has its own places. A caller
/// counts at the line, or the last byte of the instruction, of its call.
/// Errors: as hot_spots; kUsage: `function` cannot be read.
Result<Annotation> annotate(const Reader& reader, const HotSpotQuery& query,
                            const std::string& function);

}  // namespace stackpack::app
