#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "export/output/export_output.h"
#include "io/spill_file.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// Content of a protobuf message which is too large for memory. Its length goes in front of it, so
/// that it waits on disk until all of it is there.
///
/// Errors: sticky; copy_to() returns them.
class SpilledMessage {
 public:
  explicit SpilledMessage(const std::string& directory) : file_(directory) {}

  /// Where fields are written to; call flush_if_full() between two of them.
  [[nodiscard]] std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kFlushBytes) {
      flush();
    }
  }

  /// Bytes so far.
  [[nodiscard]] std::uint64_t size() const { return spilled_ + buffer_.size(); }
  [[nodiscard]] const Status& status() const { return status_; }

  /// Copies bytes [begin, end) to `out`.
  Status copy_to(ExportOutput& out, std::uint64_t begin, std::uint64_t end);

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 20;
  void flush();

  io::SpillFile file_;
  std::string buffer_;
  std::uint64_t spilled_ = 0;
  Status status_;
};

/// Appends the tag and the length of a length-delimited field whose content follows.
void append_field_head(std::string& out, std::uint32_t field, std::uint64_t length);

}  // namespace stackpack::exporting
