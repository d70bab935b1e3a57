#include "app/listing/text_output.h"

#include <cerrno>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "io/output_file.h"
#include "io/output_rules.h"
#include "io/utf8_path.h"

namespace stackpack::app {

namespace {

Status written(const ReportFile& file, std::string_view text) {
  io::OutputRules rules;
  rules.force = file.force;
  if (const Status added = io::add_inputs(rules, file.inputs); !added) {
    return added;
  }
  io::remove_leftovers({&file.path, 1});
  auto output = io::OutputFile::create(file.path, rules);
  if (!output) {
    return output.error();
  }
  const Status done = (*output)->write(std::as_bytes(std::span(text)));
  return done ? (*output)->commit() : done;
}

}  // namespace

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

Status write_report_file(const ReportFile& file, std::string_view text) {
  const Status done = written(file, text);
  if (done) {
    return done;
  }
  Error error = done.error();
  error.part = kOutputPart;
  return error;
}

std::string working_directory() {
  std::error_code unknown;
  return io::text_of(std::filesystem::current_path(unknown));
}

std::string path_beside(const std::string& file, const std::string& path) {
  return io::text_of(io::path_of(file).parent_path() / io::path_of(path));
}

}  // namespace stackpack::app
