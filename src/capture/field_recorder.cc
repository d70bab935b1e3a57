#include "capture/field_recorder.h"

#include <span>
#include <tuple>

namespace stackpack::capture {

bool FieldRecorder::InFile::before(const TimedRow& a, const TimedRow& b) {
  return std::tie(a.time_ns, a.rank, a.order) < std::tie(b.time_ns, b.rank, b.order);
}

void FieldRecorder::add(std::uint64_t time_ns, std::uint32_t rank, const FieldRow& row) {
  if (!status_) {
    return;
  }
  if (!rows_) {
    rows_ = std::make_unique<scratch::ExternalSort<TimedRow, InFile>>(scratch_directory_, kRows);
  }
  status_ = rows_->add({time_ns, order_++, rank, row});
}

void FieldRecorder::place(std::uint64_t sample) {
  numbers_.push_back(sample);
  if (numbers_.size() < kNumbers || !status_ || !numbers_file_) {
    return;
  }
  const Result<std::uint64_t> written = numbers_file_->append(std::as_bytes(std::span(numbers_)));
  status_ = written ? Status{} : Status{written.error()};
  numbers_.clear();
}

// False: there is none left.
Result<bool> FieldRecorder::next_number(std::uint64_t& sample) {
  while (next_ == read_.size()) {
    next_ = 0;
    if (numbers_file_ && read_bytes_ < numbers_file_->size()) {
      read_.resize(kNumbers);
      const Status read =
          numbers_file_->read_at(read_bytes_, std::as_writable_bytes(std::span(read_)));
      if (!read) {
        return read.error();
      }
      read_bytes_ += kNumbers * sizeof(std::uint64_t);
    } else if (!numbers_.empty()) {
      read_ = std::exchange(numbers_, {});
    } else {
      read_.clear();
      return false;
    }
  }
  sample = read_[next_++];
  return true;
}

Status FieldRecorder::give(const TimedRow& timed, const std::vector<std::uint32_t>& control_groups,
                           const std::function<Status(FieldRow&)>& visit) {
  FieldRow row = timed.row;
  const Result<bool> found = next_number(row.sample);
  if (!found) {
    return found.error();
  }
  if (!*found) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "fields without a sample"};
  }
  if (row.has(SampleField::kControlGroup)) {
    const std::uint64_t number = row.value(SampleField::kControlGroup);
    if (number >= control_groups.size()) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "a sample of a control group that is not there"};
    }
    row.set(SampleField::kControlGroup, control_groups[static_cast<std::size_t>(number)]);
  }
  if (row.has(SampleField::kLabelSet)) {
    const Result<std::uint64_t> set = labels_.place_of(row.value(SampleField::kLabelSet));
    if (!set) {
      return set.error();
    }
    row.set(SampleField::kLabelSet, *set);
  }
  return visit(row);
}

// Those that samples have get their places in the file.
Status FieldRecorder::settle_labels() {
  if (labels_.empty()) {
    return {};
  }
  const Status noted = rows_->visit([this](const TimedRow& timed) {
    if (timed.row.has(SampleField::kLabelSet)) {
      labels_.use(timed.row.value(SampleField::kLabelSet));
    }
    return Status{};
  });
  return noted ? labels_.settle() : noted;
}

Status FieldRecorder::finish(const std::function<Status(FieldRow&)>& visit) {
  if (!status_ || empty()) {
    return status_;
  }
  if (const Status settled = settle_labels(); !settled) {
    return settled;
  }
  const std::vector<std::uint32_t> groups = control_groups_.sorted().numbers;
  return rows_->visit([&](const TimedRow& timed) { return give(timed, groups, visit); });
}

}  // namespace stackpack::capture
