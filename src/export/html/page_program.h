#pragma once

#include <string_view>

namespace stackpack::exporting {

/// The page up to where its data stand: HTML, style, and what the content security policy allows.
/// Made at build time out of src/export/page (cmake/EmbedPage.cmake).
std::string_view page_before_data();

/// The page from there on: its program.
std::string_view page_after_data();

}  // namespace stackpack::exporting
