#include "spk/format/interval_codec.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "bytes/byte_writer.h"
#include "core/number_table.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

using Column = std::vector<std::uint64_t>;

// Codes of what a row has: none, what the row before it has, or entry code - kFirstEntry.
constexpr std::uint64_t kNone = 0;
constexpr std::uint64_t kSameAsBefore = 1;
constexpr std::uint64_t kFirstEntry = 2;

Error damaged() {
  return {ErrorCode::kCorrupt, kNoOffset, "spk: intervals: a row that cannot be"};
}

// The words of a field by distinct ones, whose codes go up with them. Most words repeat.
class Dictionary {
 public:
  explicit Dictionary(std::span<const std::uint64_t> words) {
    numbers_.reserve(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool repeats = i != 0 && words[i] == words[i - 1];
      numbers_.push_back(words[i] == 0 ? 0 : repeats ? numbers_.back() : known_.number(words[i]));
    }
    const auto& values = known_.values();
    order_.resize(values.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::sort(order_.begin(), order_.end(),
              [&values](std::uint32_t x, std::uint32_t y) { return values[x] < values[y]; });
    ranks_.resize(values.size());
    for (std::uint32_t rank = 0; rank < order_.size(); ++rank) {
      ranks_[order_[rank]] = rank;
    }
  }

  void write(BlockContent& content) const {
    content.bytes().write_varint(order_.size());
    Column steps;
    std::uint64_t before = 0;
    for (const std::uint32_t number : order_) {
      steps.push_back(known_.values()[number] - before);
      before = known_.values()[number];
    }
    write_numbers(steps, content);
  }

  /// Of the word of a row, which is not 0.
  [[nodiscard]] std::uint64_t code(std::size_t row) const {
    return kFirstEntry + ranks_[numbers_[row]];
  }

 private:
  core::NumberTable<std::uint64_t> known_;
  std::vector<std::uint32_t> numbers_;  // by row, as they came
  std::vector<std::uint32_t> order_;    // numbers by word
  std::vector<std::uint32_t> ranks_;    // by number
};

// The entries of a dictionary as they are read.
bool read_dictionary(bytes::ByteCursor& in, std::size_t most, Column& entries) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count > most) {
    return false;
  }
  read_column(in, static_cast<std::size_t>(count), entries);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if ((i != 0 && entries[i] == 0) || entries[i] > ~before) {
      return false;
    }
    before += entries[i];
    entries[i] = before;
  }
  return in.ok();
}

bool same_thread(const WaitInterval& a, const WaitInterval& b) {
  return a.tid == b.tid && a.pid == b.pid;
}

std::uint64_t waker_word(const WaitInterval& row) {
  return std::uint64_t{row.waker} << 2 | static_cast<std::uint64_t>(row.waker_kind);
}

// What is repeated from one row of a thread to the next, as a number above 0; 0: none.
std::uint64_t stack_word(StackId stack) {
  return stack == kNoStack ? 0 : std::uint64_t{stack} + 1;
}

// Codes of a field whose words stand in a dictionary.
Column codes_of(std::span<const std::uint64_t> words, const std::vector<bool>& begins,
                const Dictionary& dictionary) {
  Column codes(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool repeats = !begins[i] && words[i] == words[i - 1];
    codes[i] = words[i] == 0 ? kNone : repeats ? kSameAsBefore : dictionary.code(i);
  }
  return codes;
}

struct Words {
  Column reason;
  Column stack;
  Column waker;
  Column waker_stack;
};

Words words_of(std::span<const WaitInterval> rows) {
  Words words{Column(rows.size()), Column(rows.size()), Column(rows.size()), Column(rows.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    words.reason[i] = rows[i].reason;
    words.stack[i] = stack_word(rows[i].stack);
    words.waker[i] = waker_word(rows[i]);
    words.waker_stack[i] = stack_word(rows[i].waker_stack);
  }
  return words;
}

void write_times(std::span<const WaitInterval> rows, const std::vector<bool>& begins,
                 BlockContent& content) {
  std::uint64_t base = ~std::uint64_t{0};
  for (const WaitInterval& row : rows) {
    base = std::min(base, row.from_ns);
  }
  Column gaps(rows.size());
  Column lengths(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    gaps[i] = rows[i].from_ns - (begins[i] ? base : rows[i - 1].to_ns);
    lengths[i] = rows[i].to_ns - rows[i].from_ns;
  }
  content.bytes().write_varint(base);
  write_numbers(gaps, content);
  content.cut();
  write_numbers(lengths, content);
  content.cut();
}

// One field of all rows: its dictionary, and the codes.
void write_field(std::span<const std::uint64_t> words, const std::vector<bool>& begins,
                 BlockContent& content) {
  const Dictionary dictionary(words);
  dictionary.write(content);
  write_column(codes_of(words, begins, dictionary), content);
  content.cut();
}

// The words of a field. False: a code that no row has.
bool read_field(bytes::ByteCursor& in, std::size_t count, const std::vector<bool>& begins,
                Column& words) {
  Column entries;
  if (!read_dictionary(in, count, entries)) {
    return false;
  }
  read_column(in, count, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t code = words[i];
    if (code == kSameAsBefore) {
      if (begins[i]) {
        return false;
      }
      words[i] = words[i - 1];
    } else if (code >= kFirstEntry) {
      if (code - kFirstEntry >= entries.size()) {
        return false;
      }
      words[i] = entries[static_cast<std::size_t>(code - kFirstEntry)];
    }
  }
  return in.ok();
}

bool read_threads(bytes::ByteCursor& in, std::vector<WaitInterval>& rows,
                  std::vector<bool>& begins) {
  Column tids;
  Column pids;
  read_column(in, rows.size(), tids);
  read_column(in, rows.size(), pids);
  if (!in.ok()) {
    return false;
  }
  std::uint32_t tid = 0;
  std::uint32_t pid = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (tids[i] > ~std::uint32_t{0} || pids[i] > ~std::uint32_t{0}) {
      return false;
    }
    tid += static_cast<std::uint32_t>(tids[i]);  // modulo 2^32
    pid += static_cast<std::uint32_t>(pids[i]);
    rows[i].tid = tid;
    rows[i].pid = pid;
    begins.push_back(i == 0 || !same_thread(rows[i], rows[i - 1]));
  }
  return true;
}

bool read_times(bytes::ByteCursor& in, const std::vector<bool>& begins,
                std::vector<WaitInterval>& rows) {
  const std::uint64_t base = read_varint(in);
  Column gaps;
  Column lengths;
  read_column(in, rows.size(), gaps);
  read_column(in, rows.size(), lengths);
  if (!in.ok()) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t after = begins[i] ? base : rows[i - 1].to_ns;
    if (!bytes::checked_add(after, gaps[i], rows[i].from_ns) ||
        !bytes::checked_add(rows[i].from_ns, lengths[i], rows[i].to_ns)) {
      return false;
    }
  }
  return true;
}

bool read_states(bytes::ByteCursor& in, std::vector<WaitInterval>& rows) {
  Column codes;
  read_column(in, rows.size(), codes);
  if (!in.ok()) {
    return false;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t state = codes[i] & 7;
    const std::uint64_t flags = codes[i] >> 3;
    if (state >= kWaitStateCount || flags > kWaitFlagMask) {
      return false;
    }
    rows[i].state = static_cast<WaitState>(state);
    rows[i].flags = static_cast<std::uint8_t>(flags);
  }
  return true;
}

StackId stack_of(std::uint64_t word) {
  return word == 0 ? kNoStack : static_cast<StackId>(word - 1);
}

bool set_fields(const Words& words, const IntervalBounds& bounds, std::vector<WaitInterval>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    WaitInterval& row = rows[i];
    row.reason = static_cast<std::uint32_t>(words.reason[i]);
    row.waker_kind = static_cast<WakerKind>(words.waker[i] & 3);
    row.waker = static_cast<std::uint32_t>(words.waker[i] >> 2);
    row.stack = stack_of(words.stack[i]);
    row.waker_stack = stack_of(words.waker_stack[i]);
    if (std::max(words.stack[i], words.waker_stack[i]) > bounds.stacks ||
        words.reason[i] > kMax32 || words.waker[i] >> 34 != 0 || !is_within(row, bounds)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_within(const WaitInterval& row, const IntervalBounds& bounds) {
  const auto there = [&bounds](StackId stack) {
    return stack == kNoStack || stack < bounds.stacks;
  };
  return (row.reason == 0 || row.reason < bounds.reasons) && row.flags <= kWaitFlagMask &&
         (row.waker_kind != WakerKind::kNone || row.waker == 0) && there(row.stack) &&
         there(row.waker_stack);
}

bool may_follow(const WaitInterval& row, const WaitInterval& before) {
  return row.from_ns <= row.to_ns && (!same_thread(row, before) || before.to_ns <= row.from_ns);
}

void encode_intervals(std::span<const WaitInterval> rows, BlockContent& content) {
  content.bytes().write_varint(rows.size());
  std::vector<bool> begins(rows.size());
  Column tids(rows.size());
  Column pids(rows.size());
  Column states(rows.size());
  std::uint32_t tid = 0;
  std::uint32_t pid = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const WaitInterval& row = rows[i];
    begins[i] = i == 0 || row.tid != tid || row.pid != pid;
    tids[i] = row.tid - tid;  // modulo 2^32
    pids[i] = row.pid - pid;
    states[i] = static_cast<std::uint64_t>(row.state) | std::uint64_t{row.flags} << 3;
    tid = row.tid;
    pid = row.pid;
  }
  write_column(tids, content);
  write_column(pids, content);
  write_times(rows, begins, content);
  write_column(states, content);
  content.cut();
  const Words words = words_of(rows);
  write_field(words.reason, begins, content);
  write_field(words.stack, begins, content);
  write_field(words.waker, begins, content);
  write_field(words.waker_stack, begins, content);
}

Status decode_intervals(bytes::ByteCursor in, const IntervalBounds& bounds,
                        std::vector<WaitInterval>& rows) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count == 0 || count > kIntervalsPerBlock) {
    return damaged();
  }
  rows.assign(static_cast<std::size_t>(count), WaitInterval());
  std::vector<bool> begins;
  Words words;
  const bool good = read_threads(in, rows, begins) && read_times(in, begins, rows) &&
                    read_states(in, rows) && read_field(in, rows.size(), begins, words.reason) &&
                    read_field(in, rows.size(), begins, words.stack) &&
                    read_field(in, rows.size(), begins, words.waker) &&
                    read_field(in, rows.size(), begins, words.waker_stack) &&
                    set_fields(words, bounds, rows) && in.remaining() == 0;
  return good ? Status{} : Status{damaged()};
}

void encode_wait_reasons(std::span<const std::string> reasons, BlockContent& content) {
  content.bytes().write_varint(reasons.size());
  for (const std::string& reason : reasons) {
    const std::string_view text = std::string_view(reason).substr(0, kMaxWaitReasonBytes);
    content.bytes().write_varint(text.size());
    content.bytes().write_text(text);
  }
}

Status decode_wait_reasons(bytes::ByteCursor in, std::vector<std::string>& reasons) {
  const std::uint64_t count = read_varint(in);
  if (!in.ok() || count > kMaxWaitReasons) {
    return damaged();
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t size = read_varint(in);
    if (!in.ok() || size > kMaxWaitReasonBytes) {
      return damaged();
    }
    std::string& text = reasons.emplace_back();
    for (const std::byte byte : in.read_bytes(size)) {
      text += static_cast<char>(byte);
    }
  }
  return in.ok() && in.remaining() == 0 ? Status{} : Status{damaged()};
}

}  // namespace stackpack::spk
