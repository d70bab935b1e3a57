#include "app/listing/text_output.h"

#include <cerrno>
#include <span>
#include <utility>

namespace stackpack::app {

Result<std::unique_ptr<TextOutput>> TextOutput::open() {
  Result<std::unique_ptr<io::OutputFile>> file = io::OutputFile::create("-");
  if (!file) {
    return file.error();
  }
  return std::unique_ptr<TextOutput>(new TextOutput(std::move(*file)));
}

Status TextOutput::checked(const Status& status) {
  if (!status && status.error().os_error == EPIPE) {
    broken_pipe_ = true;
  }
  return status;
}

Status TextOutput::drain() {
  const Status written = checked(file_->write(std::as_bytes(std::span(text_))));
  text_.clear();
  return written;
}

Status TextOutput::flush() {
  const Status written = drain();
  return written ? checked(file_->flush()) : written;
}

Status TextOutput::finish() {
  const Status written = drain();
  return written ? checked(file_->commit()) : written;
}

}  // namespace stackpack::app
