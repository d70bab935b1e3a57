#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "export/output/export_output.h"

namespace stackpack::exporting {

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

}  // namespace stackpack::exporting
