#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "io/output_file.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// Where an encoder writes: small pieces, compressed on the way when asked for. Once there is more
/// than one buffer of them, a thread of the output's own compresses and writes.
///
/// Errors: sticky, and seen some buffers late. An encoder writes on and asks status() now and then;
///         finish() returns the last.
/// Memory: kBuffers of 128 KiB, as many as are filled, and what is written at once beyond that.
///         Encoders write in bursts, and look callstacks up between them: there is room for a
///         burst.
class ExportOutput {
 public:
  enum class Coding : std::uint8_t { kPlain, kGzip };

  /// `file` must outlive the output, which alone uses it until finish() has returned.
  ExportOutput(io::OutputFile& file, Coding coding);
  ExportOutput(const ExportOutput&) = delete;
  ExportOutput& operator=(const ExportOutput&) = delete;
  ~ExportOutput();

  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void write(std::span<const std::byte> bytes) {
    pending_->insert(pending_->end(), bytes.begin(), bytes.end());
    if (pending_->size() >= kFlushBytes) {
      flush();
    }
  }
  void put(char c) {
    pending_->push_back(static_cast<std::byte>(c));
    if (pending_->size() >= kFlushBytes) {
      flush();
    }
  }

  [[nodiscard]] const Status& status() const { return status_; }

  /// Writes what is pending and ends the compressed stream. Does not commit the file. Nothing may
  /// be written after.
  Status finish();

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{1} << 17;
  static constexpr std::size_t kBuffers = 64;
  class Writer;
  void flush();

  std::unique_ptr<Writer> writer_;
  std::vector<std::byte>* pending_;  // the writer's buffer that is being filled, or dropped_
  std::vector<std::byte> dropped_;   // what comes after an error
  Status status_;
};

}  // namespace stackpack::exporting
