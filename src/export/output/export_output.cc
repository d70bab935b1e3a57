#include "export/output/export_output.h"

namespace stackpack::exporting {

ExportOutput::ExportOutput(io::OutputFile& file, Coding coding)
    : file_(file),
      gzip_(coding == Coding::kGzip ? std::make_unique<codec::GzipCompressor>() : nullptr) {
  pending_.reserve(kFlushBytes);
}

void ExportOutput::flush() {
  if (status_) {
    if (gzip_) {
      compressed_.clear();
      gzip_->append(pending_, compressed_);
      status_ = file_.write(compressed_);
    } else {
      status_ = file_.write(pending_);
    }
  }
  pending_.clear();
}

Status ExportOutput::finish() {
  flush();
  if (gzip_ && status_) {
    compressed_.clear();
    gzip_->finish(compressed_);
    status_ = file_.write(compressed_);
  }
  return status_;
}

}  // namespace stackpack::exporting
