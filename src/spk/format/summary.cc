#include "spk/format/summary.h"

#include <algorithm>
#include <cstddef>

#include "core/figures.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

// Number 16 was a reader's memory in files of 0.1: it is written as 0 and passed over.
constexpr std::size_t kReservedNumber = 16;
// So are those of the builder: they depend on the memory of the machine, and the bytes of a file on
// the capture and the options alone.
constexpr std::size_t kFirstOfBuilder = 19;
constexpr std::size_t kLastOfBuilder = 24;
constexpr std::size_t kNumbers = core::kFigures.size() + 1;
constexpr std::size_t kRecordsNumber = 31;  // of samples.records

// The figure with that number in the summary, or null.
const core::Figure* figure_of(std::size_t number) {
  if (number == kReservedNumber || number >= kNumbers ||
      (number >= kFirstOfBuilder && number <= kLastOfBuilder)) {
    return nullptr;
  }
  return &core::kFigures[number < kReservedNumber ? number : number - 1];
}

void write_text(std::string_view text, bytes::ByteWriter& out) {
  out.write_varint(text.size());
  out.write_text(text);
}

std::string read_text(bytes::ByteCursor& in) {
  const std::span<const std::byte> bytes = in.read_bytes(read_varint(in));
  std::string text;
  text.reserve(bytes.size());
  for (const std::byte byte : bytes) {
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

void check_count(std::uint64_t count, bytes::ByteCursor& in) {
  if (count > kMaxSummaryRows) {
    in.skip(~std::uint64_t{0});  // marks the cursor failed
  }
}

void read_events(bytes::ByteCursor& in, Statistics& statistics) {
  const std::uint64_t count = read_varint(in);
  check_count(count, in);
  for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
    EventCount event;
    event.name = read_text(in);
    event.samples = read_varint(in);
    statistics.events.push_back(std::move(event));
  }
}

void read_losses(bytes::ByteCursor& in, Statistics& statistics) {
  const std::uint64_t count = read_varint(in);
  check_count(count, in);
  for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
    LossCounter loss;
    loss.name = read_text(in);
    const unsigned kind = in.read<std::uint8_t>();
    loss.count = read_varint(in);
    loss.first_offset = read_varint(in) - 1;
    if (kind > static_cast<unsigned>(LossKind::kNotice)) {
      in.skip(~std::uint64_t{0});  // marks the cursor failed
    }
    loss.kind = static_cast<LossKind>(kind);
    statistics.losses.push_back(std::move(loss));
  }
}

void read_skips(bytes::ByteCursor& in, Statistics& statistics) {
  const std::uint64_t count = in.remaining() == 0 ? 0 : read_varint(in);
  check_count(count, in);
  for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
    SkippedBytesCount skip;
    skip.reason = read_text(in);
    skip.bytes = read_varint(in);
    statistics.source_skipped_by_reason.push_back(std::move(skip));
  }
}

}  // namespace

void encode_summary(const Statistics& statistics, std::string_view fingerprint,
                    BlockContent& content) {
  bytes::ByteWriter& out = content.bytes();
  static_assert(kNumbers > kRecordsNumber);
  // Figures of later minor versions are written where they say something, so that the bytes of a
  // file do not change because there is a version that could say more.
  std::size_t numbers = kNumbers;
  while (numbers > kRecordsNumber + 1 && figure_of(numbers - 1)->of(statistics) == 0) {
    --numbers;
  }
  out.write_varint(numbers);
  for (std::size_t number = 0; number < numbers; ++number) {
    const core::Figure* const figure = figure_of(number);
    out.write(figure == nullptr ? std::uint64_t{0} : figure->of(statistics));
  }
  write_text(statistics.source_kind, out);
  write_text(fingerprint, out);
  out.write_varint(statistics.events.size());
  for (const EventCount& event : statistics.events) {
    write_text(event.name, out);
    out.write_varint(event.samples);
  }
  out.write_varint(statistics.losses.size());
  for (const LossCounter& loss : statistics.losses) {
    write_text(loss.name, out);
    out.write(static_cast<std::uint8_t>(loss.kind));
    out.write_varint(loss.count);
    out.write_varint(loss.first_offset + 1);
  }
  out.write_varint(statistics.source_skipped_by_reason.size());
  for (const SkippedBytesCount& skip : statistics.source_skipped_by_reason) {
    write_text(skip.reason, out);
    out.write_varint(skip.bytes);
  }
}

Status decode_summary(bytes::ByteCursor in, Statistics& statistics, std::string& fingerprint) {
  statistics = {};
  const std::uint64_t count = read_varint(in);
  if (count > in.remaining() / sizeof(std::uint64_t)) {
    return in.corrupt("spk: summary: numbers");
  }
  for (std::uint64_t number = 0; number < count; ++number) {
    const auto value = in.read<std::uint64_t>();
    if (const core::Figure* const figure =
            figure_of(static_cast<std::size_t>(std::min<std::uint64_t>(number, kNumbers)))) {
      figure->in(statistics) = value;
    }
  }
  if (count <= kRecordsNumber) {  // of a writer whose records gave one sample each
    statistics.samples.records = statistics.samples.total;
  }
  statistics.source_kind = read_text(in);
  fingerprint = read_text(in);
  read_events(in, statistics);
  read_losses(in, statistics);
  read_skips(in, statistics);
  return in.ok() ? Status{} : in.corrupt("spk: summary");
}

}  // namespace stackpack::spk
