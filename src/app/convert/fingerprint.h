// Decides whether a .spk file is what a conversion would write again.
//
// A fingerprint stands for the content of the input, the options that shape the output, and the
// version of the program. It is kept in the output, so it must be the same on every machine, and
// for a file and the same bytes from a pipe: times and names are not part of it. Content is told by
// a ContentDigest, which does not look at every byte; is_up_to_date() looks at modification times
// besides, as make does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stackpack/convert.h"

namespace stackpack::app {

/// The content of a file, or of the files of a directory. Empty when it cannot be read at offsets;
/// a pipe is not touched.
/// Errors: kNotFound, kIo. The output carries the content's digest: without it, it would be
/// another.
Result<std::string> content_of(const std::string& input);

/// The content of several inputs that are read together, whatever their order. `passed` is that of
/// the one which can be read once only, such as a pipe; empty when it is not known.
/// Result: empty when it is not known of all.
Result<std::string> content_of_all(const std::vector<std::string>& inputs,
                                   const std::string& passed);

/// The fingerprint of converting a capture of this content with these options.
std::string fingerprint_of(std::string_view content, const ConvertOptions& options);

/// Whether `output` exists, is not older than `input`, opens, and carries this fingerprint.
bool is_up_to_date(const std::string& input, const std::string& output,
                   std::string_view fingerprint);

}  // namespace stackpack::app
