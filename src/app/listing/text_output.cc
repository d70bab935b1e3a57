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

void TextOutput::keep_wanted_rows() {
  while (rows_left_ && !is_full_) {
    const std::size_t end = text_.find('\n', looked_at_);
    if (end == std::string::npos) {
      return;
    }
    const char begin = text_[looked_at_];
    const bool is_head = form_ == RowForm::kLines ? begin == '#' : begin == '[' || begin == ']';
    if (!is_head && *rows_left_ > 0) {
      --*rows_left_;
    }
    looked_at_ = end + 1;
    if (*rows_left_ > 0) {
      continue;
    }
    is_full_ = true;
    text_.resize(looked_at_);
    if (form_ == RowForm::kJson) {  // the comma of a row stands before the next one
      text_.resize(end - (text_[end - 1] == ',' ? 1 : 0));
      text_ += "\n]\n";
      looked_at_ = text_.size();
    }
  }
  if (is_full_) {
    text_.resize(looked_at_);
  }
}

Status TextOutput::checkpoint() {
  keep_wanted_rows();
  if (is_full_) {
    return Error{ErrorCode::kCancelled, kNoOffset, "there are as many rows as were asked for"};
  }
  return text_.size() < kBlockBytes ? Status{} : drain();
}

Status TextOutput::drain() {
  keep_wanted_rows();
  const Status written = checked(file_->write(std::as_bytes(std::span(text_))));
  text_.clear();
  looked_at_ = 0;
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
