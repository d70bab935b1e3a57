#pragma once

#include <string>
#include <string_view>

namespace stackpack::app {

/// What a file is that is neither a .spk file nor a capture, by its first bytes, in words that go
/// on after "is": "empty", "an ELF file (a program or library)", "text", "unknown binary data".
/// Empty: it is one of them, or cannot be read.
std::string_view content_kind(const std::string& path);

}  // namespace stackpack::app
