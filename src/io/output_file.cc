#include "io/output_file.h"

#include <cerrno>

#include "io/directories.h"

namespace stackpack::io {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

// Until an output that replaces another has the other's permissions, nobody else may read it.
constexpr std::uint32_t kPrivate = 0600;

}  // namespace

OutputFile::OutputFile() {
  buffer_.reserve(kBufferBytes);
}

OutputFile::~OutputFile() = default;

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path,
                                                       const OutputRules& rules) {
  if (const Status allowed = check_output(path, rules); !allowed) {
    return allowed.error();
  }
  // First the object, then what it has to close and to remove.
  std::unique_ptr<OutputFile> file(new OutputFile);
  file->rules_ = rules;
  if (path == "-") {
    file->descriptor_ = kOutputDescriptor;
    file->target_ = path;
    return file;
  }
  FileStatus status;
  const bool exists = look_at(path, status);
  if (exists && status.kind == FileKind::kDirectory) {
    return Error{ErrorCode::kIo, kNoOffset, "output is a directory", EISDIR, kOutputPart};
  }
  if (exists && status.kind == FileKind::kOther) {
    file->device_ = open_to_write(path);
    if (!file->device_) {
      return Error{ErrorCode::kIo, kNoOffset, "cannot open the output", errno, kOutputPart};
    }
    file->descriptor_ = file->device_.get();
    return file;
  }
  // Where symbolic links lead: replacing a link would leave what it points to as it was.
  file->target_ = exists ? resolved_path(path) : path;
  if (exists) {
    file->kept_mode_ = status.permissions;
  }
  file->replacing_.emplace(file->target_, exists ? kPrivate : rules.mode);
  file->descriptor_ = file->replacing_->descriptor();
  if (file->descriptor_ < 0) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot create the output", errno, kOutputPart};
  }
  return file;
}

Status OutputFile::fail(int os_error, std::string_view what) {
  failed_ = true;
  error_ = Error{ErrorCode::kIo, kNoOffset, what, os_error, kOutputPart};
  return error_;
}

Status OutputFile::flush() {
  // What was read since may be what standard output leads to.
  if (target_ == "-") {
    if (const Status allowed = check_output(target_, rules_); !allowed) {
      failed_ = true;
      error_ = allowed.error();
      return error_;
    }
  }
  if (!write_all(descriptor_, buffer_)) {
    return fail(errno, "cannot write the output");
  }
  buffer_.clear();
  return {};
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  if (failed_) {
    return error_;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  offset_ += bytes.size();
  return buffer_.size() >= kBufferBytes ? flush() : Status{};
}

Status OutputFile::prepare() {
  if (failed_) {
    return error_;
  }
  if (prepared_) {
    return {};
  }
  if (const Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (replacing_) {
    if (!replacing_->sync()) {
      return fail(errno, "cannot sync the output");
    }
    // Somebody else's file may have come to this place since.
    if (const Status allowed = check_output(target_, rules_); !allowed) {
      failed_ = true;
      error_ = allowed.error();
      return error_;
    }
    if (!replacing_->name_it()) {
      return fail(errno, "cannot name the output");
    }
  }
  prepared_ = true;
  return {};
}

Status OutputFile::commit() {
  if (const Status prepared = prepare(); !prepared || !replacing_) {
    return prepared;
  }
  if (const std::string_view failed = replacing_->take_place(kept_mode_); !failed.empty()) {
    return fail(errno, failed);
  }
  failed_ = true;  // nothing may be written after the commit
  error_ = Error{ErrorCode::kUsage, kNoOffset, "output is already committed"};
  return {};
}

}  // namespace stackpack::io
