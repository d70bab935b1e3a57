#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codec/gzip_codec.h"
#include "io/output_file.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// Where an encoder writes: small pieces, compressed on the way when asked for.
///
/// Errors: sticky. An encoder writes on and asks status() now and then; finish() returns the last.
class ExportOutput {
 public:
  enum class Coding : std::uint8_t { kPlain, kGzip };

  /// `file` must outlive the output.
  ExportOutput(io::OutputFile& file, Coding coding);

  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void write(std::span<const std::byte> bytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    if (pending_.size() >= kFlushBytes) {
      flush();
    }
  }
  void put(char c) {
    pending_.push_back(static_cast<std::byte>(c));
    if (pending_.size() >= kFlushBytes) {
      flush();
    }
  }

  [[nodiscard]] const Status& status() const { return status_; }

  /// Writes what is pending and ends the compressed stream. Does not commit the file.
  Status finish();

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 16;
  void flush();

  io::OutputFile& file_;
  std::unique_ptr<codec::GzipCompressor> gzip_;
  std::vector<std::byte> pending_;
  std::vector<std::byte> compressed_;
  Status status_;
};

}  // namespace stackpack::exporting
