#pragma once

#include <string>
#include <string_view>

namespace stackpack::io {

/// Why the system would not make a file of exactly this path (UTF-8), or would make another than is
/// named; empty where nothing is known against it. On Windows: characters and devices' names that
/// no file can have, dots and blanks at an end, which are dropped there.
std::string_view problem_with_path(const std::string& path);

/// What two paths have in common that differ in no way the system sees: on Windows the case of
/// letters and the kind of slashes. For comparing, not for opening. Links are not followed.
std::string compared_path(const std::string& path);

}  // namespace stackpack::io
