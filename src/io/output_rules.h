#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "io/system_file.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// What an output may do to a file that is at its place already.
struct OutputRules {
  /// Files that are being read. An output is never one of them, whatever else is allowed.
  std::set<FileIdentity> inputs;

  /// Any file but an input may be replaced.
  bool force = true;

  /// Without force: whether a file that begins with these bytes may be replaced. Null: none may.
  /// An empty file always may.
  bool (*replaceable)(std::span<const std::byte> head) = nullptr;

  /// Why a file is not replaced; static text.
  std::string_view refusal = "exists; option force replaces it";

  /// Permissions of a new file, of which the umask takes away. A file that is replaced hands its
  /// own on.
  std::uint32_t mode = 0666;
};

/// Bytes of an existing file that OutputRules::replaceable gets, if the file has as many.
inline constexpr std::size_t kReplaceableHeadBytes = 64;

/// Notes `inputs` (files; directories stand for the files in them; "-": standard input) as files
/// that an output must not be, and gives the output the permissions that all of them have.
/// Files that do not exist are passed over: opening them will fail.
/// Errors: kIo.
Status add_inputs(OutputRules& rules, std::span<const std::string> inputs);

/// Whether `output` ("-": standard output) may be written under `rules`. Nothing is changed.
/// What a run has read until now (FilesRead) is kept, too, so ask again when all has been read.
/// Errors: kUsage, of the output's part, when the output is an input, has been read, or must not be
///         replaced; kIo.
Status check_output(const std::string& output, const OutputRules& rules);

/// The same for a directory of outputs: it may be written to when it is empty or not there.
Status check_output_directory(const std::string& directory, const OutputRules& rules);

/// Removes what killed runs left beside these outputs: temporary names with their mark
/// (io/temporary_name.h), where no such process is there any more and no process holds the file.
/// Looks at each directory once.
void remove_leftovers(std::span<const std::string> outputs);

}  // namespace stackpack::io
