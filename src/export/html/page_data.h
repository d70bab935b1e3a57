#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "export/html/page_content.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// Writes the data of a page as docs/page-format.md has them, not compressed yet, section by
/// section to `write`. Errors: those of `write`.
/// Memory: 8 bytes a node for the order, and one section at a time, some 3 bytes a node.
Status encode_page(const PageContent& content,
                   const std::function<Status(std::span<const std::byte>)>& write);

}  // namespace stackpack::exporting
