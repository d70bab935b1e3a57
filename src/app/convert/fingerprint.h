// Decides whether a .spk file is what a conversion would write again.
//
// A fingerprint stands for the content of the input, the options that shape the output, and the
// version of the program. It is kept in the output, so it must be the same on every machine, and
// for a file and the same bytes from a pipe: times and names are not part of it. Content is known
// by a ContentDigest, which does not look at every byte; is_up_to_date() looks at modification
// times besides, as make does.
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

/// The content of several inputs that are read together, whatever their order.
/// Result: empty when it is not known of all. Errors: as content_of().
Result<std::string> content_of_inputs(const std::vector<std::string>& inputs);

/// Sees to it that a fingerprint is that of the bytes which were read, whatever happens to the
/// inputs meanwhile. Make it before they are opened.
class ContentWatch {
 public:
  /// An input that does not exist is no error here: opening it says so. Errors: kIo.
  static Result<ContentWatch> begin(const std::vector<std::string>& inputs);

  /// After the last read: content_of_inputs() as it was at the beginning. `passed` is the digest of
  /// the input that can be read once only, such as a pipe. Empty when an input was written to or
  /// replaced since: what was read may be a mixture then, and no fingerprint stands for it.
  [[nodiscard]] Result<std::string> content(const std::string& passed) const;

 private:
  using States = std::vector<std::optional<io::FileState>>;
  static Result<States> states_of(const std::string& input);

  struct Watched {
    std::string path;
    std::string content;
    States states;
  };
  std::vector<Watched> inputs_;
};

/// The fingerprint of converting a capture of this content with these options; empty when the
/// content is. A memory limit belongs to it only when facts were left out because of it.
std::string fingerprint_of(std::string_view content, const ConvertOptions& options,
                           bool facts_left_out);

/// The fingerprint of a conversion's output that was given names: `digest` stands for them.
std::string named_fingerprint(std::string_view fingerprint, std::string_view digest);

/// The part of a fingerprint that is the conversion's.
std::string_view conversion_fingerprint(std::string_view fingerprint);

/// Whether `output` exists, is not older than `input`, opens, and carries a fingerprint of this
/// content and these options, whatever names it was given since; with `named`, it has to have been
/// given some. One that is complete although the options have a memory limit is up to date.
/// `rebased`: it has to be a merge of that conversion alone, at whatever level.
bool is_up_to_date(const std::string& input, const std::string& output, std::string_view content,
                   const ConvertOptions& options, bool named = false, bool rebased = false);

/// The options of the conversion before its output is rebased: those of merge(), so that it is the
/// same source.
ConvertOptions options_before_rebasing(ConvertOptions options);

}  // namespace stackpack::app
