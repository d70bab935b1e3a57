#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "export/html/page_content.h"
#include "export/output/export_output.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// The page up to where its data stand: HTML, style, and what the content security policy allows.
/// Made at build time out of src/export/page (cmake/EmbedPage.cmake).
std::string_view page_before_data();

/// The page from there on: its program.
std::string_view page_after_data();

/// Writes bytes as base64 (RFC 4648) without line ends.
class Base64Output {
 public:
  /// `out` must outlive this.
  explicit Base64Output(ExportOutput& out) : out_(out) {}

  void write(std::span<const std::byte> bytes);
  /// Writes what is left, with its padding.
  void finish();

 private:
  void put_group();

  ExportOutput& out_;
  std::array<std::byte, 3> group_{};
  std::size_t filled_ = 0;
};

/// Writes a page: the program that shows it, and its content within. Nothing of the content is ever
/// HTML; all of it is base64.
/// Memory: that of encode_page(). Errors: those of the output.
Status write_page(const PageContent& content, ExportOutput& out);

}  // namespace stackpack::exporting
