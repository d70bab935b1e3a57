#include "app/convert/format_choice.h"

#include <algorithm>
#include <string>

#include "app/convert/known_content.h"

namespace stackpack::app {

namespace {

using capture::ProbeAnswer;

}  // namespace

FormatChoice::FormatChoice(const capture::SourceFormat& known)
    : answers_{{&known, {ProbeAnswer::kCertain, {}}}}, candidates_(1) {}

FormatChoice::FormatChoice(const capture::CaptureHead& head)
    : answers_(ask_formats(head)), no_format_(error_of_content(head.bytes)) {
  const bool is_certain = answers_.front().probe.answer == ProbeAnswer::kCertain;
  candidates_ = is_certain ? 1
                           : static_cast<std::size_t>(std::count_if(
                                 answers_.begin(), answers_.end(),
                                 [](const FormatAnswer& answer) { return bool{answer.probe}; }));
}

const capture::SourceFormat* FormatChoice::format() const {
  return at_ < candidates_ ? answers_[at_].format : nullptr;
}

bool FormatChoice::choose_next(const Error& error) {
  const bool is_of_content = error.code == ErrorCode::kCorrupt ||
                             error.code == ErrorCode::kTruncated ||
                             error.code == ErrorCode::kUnsupported;
  if (!is_of_content || error.part == kOutputPart) {
    return false;
  }
  errors_.push_back(error);
  ++at_;
  return format() != nullptr;
}

Error FormatChoice::error_of_all(const Error& last) const {
  return at_ == candidates_ && candidates_ != 1 ? no_format_ : last;
}

std::vector<FormatTried> FormatChoice::tried() const {
  std::vector<FormatTried> tried;
  // A format whose turn it still is failed by something else than the content.
  if (format() != nullptr || answers_.empty() ||
      answers_.front().probe.answer == ProbeAnswer::kCertain) {
    return tried;
  }
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    tried.push_back(
        {std::string(answers_[i].format->name),
         i < errors_.size() ? message(errors_[i]) : std::string(answers_[i].probe.reason)});
  }
  return tried;
}

}  // namespace stackpack::app
