// What files are that are no captures but are often taken for one.
#pragma once

#include <cstddef>
#include <span>

#include "stackpack/result.h"

namespace stackpack::app {

/// The error for a file that begins with `head` and that no format takes: it names the kind of file
/// where that is known.
Error error_of_content(std::span<const std::byte> head);

}  // namespace stackpack::app
