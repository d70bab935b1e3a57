#include "scratch/text_log.h"

#include <span>

namespace stackpack::scratch {

std::uint64_t TextLog::add(std::initializer_list<std::string_view> texts) {
  const std::uint64_t offset = file_.size() + recent_.size();
  for (const std::string_view text : texts) {
    recent_ += text;
  }
  if (recent_.size() >= recent_bytes_ && status_) {
    const Result<std::uint64_t> written = file_.append(std::as_bytes(std::span(recent_)));
    status_ = written ? Status{} : Status{written.error()};
    recent_.clear();
  }
  return offset;
}

Status TextLog::read(std::uint64_t offset, std::string& text) const {
  if (!status_) {
    return status_;
  }
  if (offset >= file_.size()) {
    recent_.copy(text.data(), text.size(), static_cast<std::size_t>(offset - file_.size()));
    return {};
  }
  return file_.read_at(offset, std::as_writable_bytes(std::span(text)));
}

}  // namespace stackpack::scratch
