// Decides whether a .spk file is what a conversion would write again.
//
// A fingerprint stands for the content of the input, the options that shape the output, and the
// version of the program. It is kept in the output, so it must be the same on every machine, and
// for a file and the same bytes from a pipe: times and names are not part of it. Content is told by
// a ContentDigest, which does not look at every byte; is_up_to_date() looks at modification times
// besides, as make does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_state.h"
#include "stackpack/convert.h"

namespace stackpack::app {

/// The content of a file, or of the files of a directory. Empty when it cannot be read at offsets;
/// a pipe is not touched.
/// Errors: kNotFound, kIo. The output carries the content's digest: without it, it would be
/// another.
Result<std::string> content_of(const std::string& input);

/// Sees to it that a fingerprint is that of the bytes which were read, whatever happens to the
/// input meanwhile. Make it before the input is opened.
class ContentWatch {
 public:
  /// An input that does not exist is no error here: opening it tells. Errors: kIo.
  static Result<ContentWatch> begin(const std::string& input);

  /// After the last read: `content_of` the input at the beginning, or `passed`, the digest of a
  /// stream, when it is not empty. Empty when the input was written to or replaced since: what was
  /// read may be a mixture then, and no fingerprint stands for it.
  [[nodiscard]] Result<std::string> content(const std::string& passed) const;

 private:
  using States = std::vector<std::optional<io::FileState>>;
  static Result<States> states_of(const std::string& input);

  std::string input_;
  std::string content_;
  States states_;
};

/// The fingerprint of converting a capture of this content with these options; empty when the
/// content is. A memory limit belongs to it only when facts were left out because of it.
std::string fingerprint_of(std::string_view content, const ConvertOptions& options,
                           bool facts_left_out);

/// Whether `output` exists, is not older than `input`, opens, and carries a fingerprint of this
/// content and these options. One that is complete although the options have a memory limit is up
/// to date.
bool is_up_to_date(const std::string& input, const std::string& output, std::string_view content,
                   const ConvertOptions& options);

}  // namespace stackpack::app
