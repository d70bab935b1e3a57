#include "capture/label_recorder.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"
#include "bytes/label_bytes.h"
#include "core/merge_heap.h"

namespace stackpack::capture {

namespace {

constexpr std::string_view kRedactedValue = "[redacted]";
constexpr std::size_t kRunBytes = std::size_t{1} << 18;  // of a run that is written or read
constexpr std::size_t kEntryHeadBytes = 16;              // number, size
constexpr std::uint64_t kPlacePageBytes = std::uint64_t{4} << 20;

void leave_values_out(LabelSet& labels) {
  for (Label& label : labels) {
    label = {std::move(label.key), LabelType::kText, std::string(kRedactedValue), 0, {}};
  }
}

}  // namespace

// A sorted run, read from the beginning.
class LabelRecorder::Run {
 public:
  Run(const io::SpillFile& file, Extent extent) : file_(&file), extent_(extent) {}

  // False: the run has ended.
  Result<bool> next() {
    if (const Status filled = fill(kEntryHeadBytes); !filled) {
      return filled.error();
    }
    if (begin_ == window_.size()) {
      return false;
    }
    bytes::ByteCursor head(std::span<const std::byte>(window_).subspan(begin_, kEntryHeadBytes), 0);
    number_ = head.read<std::uint64_t>();
    const auto size = static_cast<std::size_t>(head.read<std::uint64_t>());
    begin_ += kEntryHeadBytes;
    if (const Status filled = fill(size); !filled) {
      return filled.error();
    }
    set_ = bytes::text_of(std::span<const std::byte>(window_).subspan(begin_, size));
    begin_ += size;
    return true;
  }

  [[nodiscard]] std::string_view set() const { return set_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  Status fill(std::size_t size) {
    if (window_.size() - begin_ >= size || extent_.begin == extent_.end) {
      return {};
    }
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    const std::size_t held = window_.size();
    const std::uint64_t more =
        std::min<std::uint64_t>(extent_.end - extent_.begin, std::max(kRunBytes, size) - held);
    window_.resize(held + static_cast<std::size_t>(more));
    const std::uint64_t from = std::exchange(extent_.begin, extent_.begin + more);
    return file_->read_at(from, std::span(window_).subspan(held));
  }

  const io::SpillFile* file_;
  Extent extent_;
  std::vector<std::byte> window_;
  std::size_t begin_ = 0;
  std::string set_;
  std::uint64_t number_ = 0;
};

std::uint64_t LabelRecorder::number_of(LabelSet& labels) {
  if (redacts_) {
    leave_values_out(labels);
  }
  cut_ += bytes::write_labels(labels, bytes_);
  if (const std::uint32_t known = sets_.find(bytes_); known != core::StringTable::kNone) {
    return first_number_ + known;
  }
  if (sets_.size() >= most_sets_ || set_bytes_ + bytes_.size() > kMostBytes) {
    status_ = status_ ? spill() : status_;
  }
  set_bytes_ += bytes_.size();
  next_number_ = first_number_ + sets_.size() + 1;
  return first_number_ + sets_.intern(bytes_);
}

std::vector<std::uint32_t> LabelRecorder::in_order() const {
  std::vector<std::uint32_t> order(sets_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [this](std::uint32_t a, std::uint32_t b) { return sets_.text(a) < sets_.text(b); });
  return order;
}

// Ends a run. Sets that come again get another number, and one place.
Status LabelRecorder::spill() {
  if (!file_) {
    file_ = std::make_unique<io::SpillFile>(scratch_directory_);
  }
  const std::uint64_t begin = file_->size();
  bytes::ByteWriter out;
  Status written;
  const auto flush = [&] {
    const Result<std::uint64_t> at = file_->append(out.bytes());
    written = at ? written : Status{at.error()};
    out.clear();
  };
  for (const std::uint32_t number : in_order()) {
    const std::string_view set = sets_.text(number);
    out.write(first_number_ + number);
    out.write(std::uint64_t{set.size()});
    out.write_text(set);
    if (out.size() >= kRunBytes) {
      flush();
    }
  }
  flush();
  runs_.push_back({begin, file_->size()});
  first_number_ += sets_.size();
  sets_ = {};
  set_bytes_ = 0;
  return written;
}

void LabelRecorder::use(std::uint64_t number) {
  used_.resize(static_cast<std::size_t>(next_number_));
  if (number < used_.size()) {
    used_[static_cast<std::size_t>(number)] = true;
  }
}

Status LabelRecorder::merge_runs(const VisitNumbers& visit) {
  const auto before = [](const Run& a, const Run& b) {
    return std::pair(a.set(), a.number()) < std::pair(b.set(), b.number());
  };
  core::MergeHeap<std::unique_ptr<Run>,
                  std::function<bool(const std::unique_ptr<Run>&, const std::unique_ptr<Run>&)>>
      heap([&before](const auto& a, const auto& b) { return before(*a, *b); });
  for (const Extent& extent : runs_) {
    auto run = std::make_unique<Run>(*file_, extent);
    const Result<bool> any = run->next();
    if (!any) {
      return any.error();
    }
    if (*any) {
      heap.push(std::move(run));
    }
  }
  while (!heap.empty()) {
    std::unique_ptr<Run> run = heap.pop();
    if (const Status visited = visit(run->set(), run->number()); !visited) {
      return visited;
    }
    const Result<bool> more = run->next();
    if (!more) {
      return more.error();
    }
    if (*more) {
      heap.push(std::move(run));
    }
  }
  return {};
}

// Every set that is in use with its number, in order: equal ones one after the other.
Status LabelRecorder::visit_entries(const VisitNumbers& visit) {
  const VisitNumbers used = [&](std::string_view set, std::uint64_t number) {
    return number < used_.size() && used_[static_cast<std::size_t>(number)] ? visit(set, number)
                                                                            : Status{};
  };
  if (!runs_.empty()) {
    return merge_runs(used);
  }
  for (const std::uint32_t number : in_order()) {
    if (const Status visited = used(sets_.text(number), number); !visited) {
      return visited;
    }
  }
  return {};
}

Status LabelRecorder::settle() {
  if (status_ && !runs_.empty() && sets_.size() != 0) {
    status_ = spill();
  }
  if (!status_) {
    return status_;
  }
  places_.emplace(scratch_directory_, runs_.empty() ? 0 : kPlacePageBytes);
  for (std::uint64_t i = 0; i < next_number_ && runs_.empty(); ++i) {
    if (const Status made = places_->append(i, 0); !made) {
      return made;
    }
  }
  std::uint64_t place = 0;
  std::string before;
  return visit_entries([&](std::string_view set, std::uint64_t number) {
    place += set == before ? 0U : 1U;  // no set is empty
    before = set;
    return places_->set(number, place - 1);
  });
}

Result<std::uint64_t> LabelRecorder::place_of(std::uint64_t number) {
  if (number >= used_.size() || !used_[static_cast<std::size_t>(number)]) {
    return Error{ErrorCode::kCorrupt, kNoOffset, "a sample has labels that are not there"};
  }
  return places_->get(number);
}

Status LabelRecorder::visit(const std::function<Status(std::string_view)>& visit) {
  std::string before;
  return visit_entries([&](std::string_view set, std::uint64_t /*number*/) {
    if (set == before) {
      return Status{};
    }
    before = set;
    return visit(set);
  });
}

}  // namespace stackpack::capture
