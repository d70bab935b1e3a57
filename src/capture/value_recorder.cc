#include "capture/value_recorder.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "capture/redaction.h"
#include "core/sort_rows.h"

namespace stackpack::capture {

namespace {

// Events of a capture's own, after those that are known by name.
constexpr std::uint8_t kFirstOwnEvent = 64;

std::uint32_t key_of_thread(std::uint8_t event, std::uint32_t tid) {
  return event >= kFirstKernelEvent && event < kFirstOwnEvent ? 0 : tid;
}

std::tuple<std::string_view, std::vector<std::pair<std::string_view, ValueType>>> order_of(
    const ValueSchema& schema) {
  std::vector<std::pair<std::string_view, ValueType>> fields;
  for (const ValueField& field : schema.fields) {
    fields.emplace_back(field.name, field.type);
  }
  return {schema.name, std::move(fields)};
}

}  // namespace

bool ValueRecorder::ByCallstack::before(const Row& a, const Row& b) {
  return std::tie(a.value.stack_time_ns, a.value.stack_tid, a.value.stack_event, a.is_value,
                  a.order) < std::tie(b.value.stack_time_ns, b.value.stack_tid, b.value.stack_event,
                                      b.is_value, b.order);
}

bool ValueRecorder::ByTime::before(const Row& a, const Row& b) {
  return std::tie(a.value.time_ns, a.order) < std::tie(b.value.time_ns, b.order);
}

std::uint64_t ValueRecorder::text(std::string_view text) {
  const std::string key(text.substr(0, kLongestText));
  if (key.empty()) {
    return 0;
  }
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    return known->second;
  }
  if (text_bytes_ + key.size() > kMostTextBytes || texts_.size() >= kMostFiles) {
    ++texts_over_limit_;
    return 0;
  }
  text_bytes_ += key.size();
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(key);
  numbers_.emplace(key, number);
  return number;
}

std::uint64_t ValueRecorder::path(std::string_view path) {
  return redact_ ? text(without_user_names(path)) : text(path);
}

std::optional<ValueKind> ValueRecorder::own_kind(const ValueSchema& schema) {
  const auto known = std::find(own_kinds_.begin(), own_kinds_.end(), schema);
  const auto at = static_cast<std::size_t>(known - own_kinds_.begin());
  if (known == own_kinds_.end()) {
    if (own_kinds_.size() == kMostOwnKinds || schema.fields.size() > kMostValueFields ||
        schema.name.size() > kLongestFieldName) {
      return std::nullopt;
    }
    own_kinds_.push_back(schema);
  }
  return static_cast<ValueKind>(value_kinds().size() + at);
}

std::optional<std::uint8_t> ValueRecorder::own_event(std::uint32_t event) {
  const auto known = std::find(own_events_.begin(), own_events_.end(), event);
  const auto at = static_cast<std::size_t>(known - own_events_.begin());
  if (known == own_events_.end()) {
    if (own_events_.size() == kMostOwnEvents) {
      return std::nullopt;
    }
    own_events_.push_back(event);
  }
  return static_cast<std::uint8_t>(kFirstOwnEvent + at);
}

std::optional<std::uint8_t> ValueRecorder::event_number(std::uint32_t event,
                                                        std::string_view name) const {
  const auto own = std::find(own_events_.begin(), own_events_.end(), event);
  return own == own_events_.end() ? valued_event(name)
                                  : std::optional(static_cast<std::uint8_t>(
                                        kFirstOwnEvent + (own - own_events_.begin())));
}

// Which of its own kinds come first, second, ...: the same in whatever order they turned up.
std::vector<std::size_t> ValueRecorder::own_order() const {
  std::vector<std::size_t> order(own_kinds_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  core::sort_rows(order, [this](std::size_t a, std::size_t b) {
    return order_of(own_kinds_[a]) < order_of(own_kinds_[b]);
  });
  return order;
}

void ValueRecorder::note_use(ValueKind kind) {
  const auto at = static_cast<std::size_t>(kind);
  used_kinds_ |= at < value_kinds().size() ? std::uint64_t{1} << at : 0;
}

// Files without the later kinds are as they were before there were any.
bool ValueRecorder::is_described(std::size_t kind) const {
  return kind < kLastingKinds || (used_kinds_ >> kind & 1) != 0;
}

// The number in the file of each of value_kinds(), then of each of its own.
std::vector<std::uint32_t> ValueRecorder::kind_numbers() const {
  const std::size_t known = value_kinds().size();
  std::vector<std::uint32_t> numbers(known + own_kinds_.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < known; ++i) {
    numbers[i] = is_described(i) ? next++ : 0;
  }
  for (const std::size_t own : own_order()) {
    numbers[known + own] = next++;
  }
  return numbers;
}

std::vector<ValueSchema> ValueRecorder::kinds() const {
  std::vector<ValueSchema> kinds;
  for (std::size_t i = 0; i < value_kinds().size(); ++i) {
    if (!is_described(i)) {
      continue;
    }
    const ValueKindRow& row = value_kinds()[i];
    ValueSchema& kind = kinds.emplace_back();
    kind.name = row.name;
    for (const ValueKindField& field : row.fields) {
      kind.fields.push_back({std::string(field.name), field.type});
    }
  }
  for (const std::size_t own : own_order()) {
    kinds.push_back(own_kinds_[own]);
  }
  return kinds;
}

void ValueRecorder::name_file(std::uint64_t key, std::uint64_t time_ns, std::string_view name) {
  if (files_.size() == kMostFiles) {
    ++texts_over_limit_;
    return;
  }
  files_.push_back({key, time_ns, static_cast<std::uint32_t>(path(name))});
}

void ValueRecorder::add(const RecordedValue& value) {
  if (!status_) {
    return;
  }
  ++count_;
  note_use(value.kind);
  const auto fill = [&](Row& row) {
    row.value = value;
    row.order = order_++;
    row.is_value = true;
    row.value.stack_tid = key_of_thread(value.stack_event, value.stack_tid);
  };
  status_ = value.stack_event == RecordedValue::kNoEvent ? timed().add_filled(fill)
                                                         : joined().add_filled(fill);
}

void ValueRecorder::add_placed(const RecordedValue& value, StackId stack, std::uint16_t segment,
                               std::uint32_t rank) {
  constexpr unsigned kOrderBits = 40;
  if (!status_) {
    return;
  }
  ++count_;
  note_use(value.kind);
  Row row{value, (std::uint64_t{rank} << kOrderBits) + order_++, stack, segment, true};
  status_ = timed().add(row);
}

ValueRecorder::Joined& ValueRecorder::joined() {
  if (!joined_) {
    joined_ = std::make_unique<Joined>(scratch_directory_, kRows);
  }
  return *joined_;
}

ValueRecorder::Timed& ValueRecorder::timed() {
  if (!timed_) {
    timed_ = std::make_unique<Timed>(scratch_directory_, kRows);
  }
  return *timed_;
}

Status ValueRecorder::offer_stack(std::uint8_t event, const Sample& sample, StackId stack) {
  Row row;
  row.value.stack_event = event;
  row.value.stack_time_ns = sample.time_ns;
  row.value.stack_tid = key_of_thread(event, sample.tid);
  row.value.pid = sample.pid;
  row.value.tid = sample.tid;
  row.order = order_++;
  row.stack = stack;
  return joined().add(row);
}

std::uint64_t ValueRecorder::file_at(std::uint64_t key, std::uint64_t time_ns) const {
  const auto comes_before = [](const NamedFile& a, const NamedFile& b) {
    return std::tie(a.key, a.time_ns) < std::tie(b.key, b.time_ns);
  };
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), NamedFile{key, time_ns, 0}, comes_before);
  if (after != files_.begin() && std::prev(after)->key == key) {
    return std::prev(after)->text;
  }
  return after != files_.end() && after->key == key ? after->text : 0;
}

// Which fields of a kind are texts, a bit for each.
ValueRecorder::TextFields ValueRecorder::texts_of_kind(std::size_t kind) const {
  TextFields fields = 0;
  for (std::size_t i = 0; i < kMostValueFields; ++i) {
    const std::size_t known = value_kinds().size();
    const bool is_text = kind < known
                             ? i < value_kinds()[kind].fields.size() &&
                                   value_kinds()[kind].fields[i].type == ValueType::kText
                             : i < own_kinds_[kind - known].fields.size() &&
                                   own_kinds_[kind - known].fields[i].type == ValueType::kText;
    fields = static_cast<TextFields>(fields | (is_text ? 1U << i : 0U));
  }
  return fields;
}

// Texts that no value has are not kept: of a disk with a million files some were read.
void ValueRecorder::number_texts(TextFields fields, ValueFields& values) {
  for (std::size_t i = 0; fields >> i != 0; ++i) {
    const std::uint64_t text = values[i];
    if (text == 0 || (fields >> i & 1) == 0) {
      continue;
    }
    std::uint32_t& number = used_numbers_[static_cast<std::size_t>(text)];
    if (number == 0) {
      number = static_cast<std::uint32_t>(used_texts_.size());
      used_texts_.push_back(texts_[static_cast<std::size_t>(text)]);
    }
    values[i] = number;
  }
}

void ValueRecorder::name_files(const RecordedValue& value, ValueFields& values) const {
  for (std::size_t field = 0; value.keyed >> field != 0; ++field) {
    if ((value.keyed >> field & 1) != 0) {
      values[field] = file_at(values[field], value.time_ns);
    }
  }
}

// Gives each value the callstack of its sample, and adds it to those in order of time.
Status ValueRecorder::join() {
  std::vector<Row> stacks;  // of one key, not yet used, the first one last
  std::size_t next = 0;
  std::size_t placed = 0;  // the one that the latest value took
  const Status joined = joined_->visit([&](const Row& row) -> Status {
    const auto same_key = [](const Row& a, const Row& b) {
      return a.value.stack_time_ns == b.value.stack_time_ns &&
             a.value.stack_tid == b.value.stack_tid && a.value.stack_event == b.value.stack_event;
    };
    if (!stacks.empty() && !same_key(stacks.front(), row)) {
      stacks.clear();
      next = 0;
      placed = 0;
    }
    if (!row.is_value) {
      if (stacks.size() < kRows) {
        stacks.push_back(row);
      }
      return {};
    }
    Row whole = row;
    if (!row.value.with_previous) {
      placed = next < stacks.size() ? next++ : stacks.size();
    }
    if (placed < stacks.size()) {
      const Row& sample = stacks[placed];
      whole.stack = sample.stack;
      if (whole.value.tid == kUnknownId) {
        whole.value.tid = sample.value.tid;
        whole.value.pid = sample.value.pid;
      }
    }
    return timed().add(whole);
  });
  joined_.reset();
  return joined;
}

Status ValueRecorder::finish(LossCounters& losses,
                             const std::function<Status(const FoundValue&)>& visit_value) {
  if (!status_ || empty()) {
    return status_;
  }
  core::sort_rows(files_, [](const NamedFile& a, const NamedFile& b) {
    return std::tie(a.key, a.time_ns) < std::tie(b.key, b.time_ns);
  });
  if (const Status joined = joined_ ? join() : Status{}; !joined) {
    return joined;
  }
  if (texts_over_limit_ != 0) {
    losses.add(value_loss::kTextsOverLimit, LossKind::kDamage, texts_over_limit_);
  }
  used_numbers_.assign(texts_.size(), 0);
  const std::vector<std::uint32_t> numbers = kind_numbers();
  std::vector<TextFields> texts(numbers.size());
  for (std::size_t kind = 0; kind < texts.size(); ++kind) {
    texts[kind] = texts_of_kind(kind);
  }
  FoundValue found;
  return timed().visit([&](const Row& row) {
    const RecordedValue& value = row.value;
    const auto kind = static_cast<std::size_t>(value.kind);
    found.time_ns = value.time_ns;
    found.pid = value.pid;
    found.tid = value.tid;
    found.kind = numbers[kind];
    found.stack = row.stack;
    found.values = value.values;
    found.segment = row.segment;
    name_files(value, found.values);
    number_texts(texts[kind], found.values);
    return visit_value(found);
  });
}

}  // namespace stackpack::capture
