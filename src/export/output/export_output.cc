#include "export/output/export_output.h"

#include "codec/gzip_codec.h"
#include "core/ordered_pipeline.h"

namespace stackpack::exporting {

// Level 6 takes twice the time for a tenth less.
constexpr int kLevel = 3;

// One thread, so that buffers are compressed and written in the order in which they were filled.
class ExportOutput::Writer {
 public:
  Writer(io::OutputFile& file, Coding coding)
      : file_(file),
        gzip_(coding == Coding::kGzip ? std::make_unique<codec::GzipCompressor>(kLevel) : nullptr),
        buffers_(
            1, kBuffers, [this](unsigned, Buffer& buffer) { return write(buffer); },
            [](Buffer&) { return Status{}; }) {}

  [[nodiscard]] std::vector<std::byte>& filling() { return buffers_.filling().bytes; }

  Status submit() { return buffers_.submit(); }

  Status finish() {
    buffers_.filling().is_last = true;
    return buffers_.finish();
  }

 private:
  struct Buffer {
    std::vector<std::byte> bytes;
    bool is_last = false;
  };

  Status write(const Buffer& buffer) {
    if (!gzip_) {
      return file_.write(buffer.bytes);
    }
    compressed_.clear();
    gzip_->append(buffer.bytes, compressed_);
    if (buffer.is_last) {
      gzip_->finish(compressed_);
    }
    return file_.write(compressed_);
  }

  io::OutputFile& file_;
  std::unique_ptr<codec::GzipCompressor> gzip_;
  std::vector<std::byte> compressed_;
  core::OrderedPipeline<Buffer> buffers_;  // last: its thread uses what is above
};

ExportOutput::ExportOutput(io::OutputFile& file, Coding coding)
    : writer_(std::make_unique<Writer>(file, coding)), pending_(&writer_->filling()) {}

ExportOutput::~ExportOutput() = default;

void ExportOutput::flush() {
  if (status_) {
    status_ = writer_->submit();
  }
  // After an error the thread may still read what is to be filled next.
  pending_ = status_ ? &writer_->filling() : &dropped_;
  pending_->clear();
}

Status ExportOutput::finish() {
  return status_ = status_ ? writer_->finish() : status_;
}

}  // namespace stackpack::exporting
