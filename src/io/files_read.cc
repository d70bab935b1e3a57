#include "io/files_read.h"

#include <utility>

namespace stackpack::io {

namespace {

FilesRead*& run_of_thread() {
  thread_local FilesRead* run = nullptr;
  return run;
}

}  // namespace

FilesRead::FilesRead() : outer_(std::exchange(run_of_thread(), this)) {}

FilesRead::~FilesRead() {
  run_of_thread() = outer_;
}

FilesRead* FilesRead::current() {
  return run_of_thread();
}

void FilesRead::note(const FileStatus& file) {
  if (file.kind != FileKind::kRegular) {
    return;
  }
  // The outer runs remember it after the inner one has ended.
  for (FilesRead* run = current(); run != nullptr; run = run->outer_) {
    const std::scoped_lock lock(run->mutex_);
    run->files_.insert(file.identity);
  }
}

void FilesRead::note_inputs(std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    FileStatus status;
    if (input == "-" ? look_at(kInputDescriptor, status) : look_at(input, status)) {
      note(status);
    }
  }
}

void FilesRead::forget(const std::string& path) {
  FileStatus status;
  if (!look_at(path, status)) {
    return;
  }
  for (FilesRead* run = current(); run != nullptr; run = run->outer_) {
    const std::scoped_lock lock(run->mutex_);
    run->files_.erase(status.identity);
  }
}

bool FilesRead::contains(const FileIdentity& file) {
  for (FilesRead* run = current(); run != nullptr; run = run->outer_) {
    const std::scoped_lock lock(run->mutex_);
    if (run->files_.contains(file)) {
      return true;
    }
  }
  return false;
}

FilesRead::Joined::Joined(FilesRead* run) : before_(std::exchange(run_of_thread(), run)) {}

FilesRead::Joined::~Joined() {
  run_of_thread() = before_;
}

}  // namespace stackpack::io
