#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/branches/branch_profile.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

struct BranchExportOptions {
  BranchProfile profile = BranchProfile::kBolt;
  BranchRules rules;
  SampleFilter filter;      ///< of profiles of samples
  std::string image{};      ///< path or name of the image that the binary is; empty: the binary's
  bool force = false;       ///< replace outputs that are there
  std::string source_path;  ///< the .spk file, which no output replaces
};

/// What became of an image that branches are in.
struct ProfiledImage {
  std::string path;                 ///< in the capture
  std::string build_id;             ///< hex; empty: not recorded
  std::uint64_t taken = 0;          ///< branches of it
  std::uint64_t samples = 0;        ///< instead of branches: of profiles of samples
  std::uint64_t covered_bytes = 0;  ///< of code
  std::uint64_t unplaced = 0;       ///< as of BranchText
  std::uint64_t outside = 0;
  std::uint64_t unnamed = 0;
  std::string output;  ///< empty: none was written, since
  std::string why;
};

/// Writes the profile of one binary. The image in the capture is that with the build id of the
/// binary; where the capture has none, that of its name.
/// Errors: kUsage: the capture has no branches, none in this binary, or its build id is another
///         one; those of the binary (Error::part kBinaryPart) and of the output.
inline constexpr std::uint32_t kBinaryPart = 1;
Result<ProfiledImage> export_branches(const Reader& reader, const std::string& binary,
                                      const std::string& output,
                                      const BranchExportOptions& options);

/// Writes a profile of each image whose file is found, one pass for all:
/// DIRECTORY/NAME-BUILDID.PROFILE, with -2, -3 ... after the name where several images without a
/// build id share it. Most branches first.
/// Errors: kUsage: the capture has no branches; those of the outputs.
Result<std::vector<ProfiledImage>> export_all_branches(const Reader& reader,
                                                       const std::string& directory,
                                                       const symbolize::SymbolPlaces& places,
                                                       const BranchExportOptions& options);

}  // namespace stackpack::app
