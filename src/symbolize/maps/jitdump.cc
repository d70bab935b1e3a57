// Layout: tools/perf/Documentation/jitdump-specification.txt of the Linux kernel.
#include "symbolize/maps/jitdump.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bytes/byte_cursor.h"
#include "core/sort_rows.h"
#include "io/buffered_reader.h"

namespace stackpack::symbolize {

namespace {

constexpr std::uint32_t kJitMagic = 0x4A695444;
constexpr std::uint32_t kJitMagicSwapped = 0x4454694A;
constexpr std::size_t kJitHeaderSize = 40;
constexpr std::uint64_t kTimesAreTicks = 1;
constexpr std::size_t kRecordHeaderSize = 16;
constexpr std::size_t kJitWindow = std::size_t{4} << 20;
constexpr std::size_t kMostCodes = std::size_t{16} << 20;
constexpr std::string_view kSameFile = "\xFF";

enum class JitRecord : std::uint32_t {
  kLoad = 0,
  kMove = 1,
  kDebugInfo = 2,
  kClose = 3,
  kUnwindingInfo = 4,
};

bool any_in(std::span<const std::uint64_t> addresses, std::uint64_t start, std::uint64_t size) {
  const auto first = std::lower_bound(addresses.begin(), addresses.end(), start);
  return first != addresses.end() && *first - start < size;
}

}  // namespace

/// Reads the records of one file.
class JitDumpReader {
 public:
  JitDumpReader(io::ByteSource& source, std::span<const std::uint64_t> addresses)
      : reader_(source, 0, kJitWindow), addresses_(addresses) {}

  Result<JitDump> run() {
    if (const Status header = read_header(); !header) {
      return header.error();
    }
    while (!closed_) {
      const Result<bool> more = read_record();
      if (!more) {
        return more.error();
      }
      if (!*more) {
        break;
      }
    }
    return std::move(dump_);
  }

 private:
  Status read_header() {
    const Result<std::span<const std::byte>> head = reader_.peek(kJitHeaderSize);
    if (!head) {
      return head.error();
    }
    bytes::ByteCursor in(*head, 0);
    const auto magic = in.read<std::uint32_t>();
    if (magic == kJitMagicSwapped) {
      order_ = bytes::ByteOrder::kBig;
    } else if (magic != kJitMagic) {
      return Error{ErrorCode::kCorrupt, 0, "jitdump: not a jitdump file"};
    }
    in = bytes::ByteCursor(*head, 0, order_);
    in.skip(4);
    const auto version = in.read<std::uint32_t>();
    const std::uint64_t size = in.read<std::uint32_t>();
    in.skip(8);  // machine
    dump_.pid_ = in.read<std::uint32_t>();
    in.skip(8);  // time of the header
    dump_.has_times_ = (in.read<std::uint64_t>() & kTimesAreTicks) == 0;
    if (!in.ok() || size < kJitHeaderSize) {
      return in.truncated("jitdump: header");
    }
    if (version > 1) {
      return Error{ErrorCode::kUnsupported, 4, "jitdump: a version above 1"};
    }
    const Result<std::uint64_t> skipped = reader_.skip(size);
    return skipped ? Status{} : skipped.error();
  }

  // False at the end.
  Result<bool> read_record() {
    const Result<std::span<const std::byte>> head = reader_.peek(kRecordHeaderSize);
    if (!head) {
      return head.error();
    }
    if (head->size() < kRecordHeaderSize) {
      dump_.counts_.cut = !head->empty();
      return false;
    }
    bytes::ByteCursor in(*head, reader_.offset(), order_);
    const auto kind = static_cast<JitRecord>(in.read<std::uint32_t>());
    const std::uint64_t size = in.read<std::uint32_t>();
    const auto time = in.read<std::uint64_t>();
    if (size < kRecordHeaderSize) {
      return in.corrupt("jitdump: size of a record");
    }
    const Result<std::span<const std::byte>> window =
        reader_.peek(static_cast<std::size_t>(std::min<std::uint64_t>(size, kJitWindow)));
    if (!window) {
      return window.error();
    }
    if (window->size() < std::min<std::uint64_t>(size, kJitWindow)) {
      dump_.counts_.cut = true;
      return false;
    }
    const std::uint64_t start = reader_.offset();
    bytes::ByteCursor body(
        window->first(static_cast<std::size_t>(std::min<std::uint64_t>(size, window->size()))),
        start, order_);
    body.skip(kRecordHeaderSize);
    if (const Status taken = take_record(kind, time, body); !taken) {
      return taken.error();
    }
    const Result<std::uint64_t> skipped = reader_.skip(size);
    if (!skipped) {
      return skipped.error();
    }
    dump_.counts_.cut = *skipped < size;
    return *skipped == size;
  }

  Status take_record(JitRecord kind, std::uint64_t time, bytes::ByteCursor body) {
    switch (kind) {
      case JitRecord::kLoad:
        return take_load(time, body);
      case JitRecord::kMove:
        return take_move(time, body);
      case JitRecord::kDebugInfo:
        take_debug_info(body);
        return {};
      case JitRecord::kClose:
        closed_ = true;
        return {};
      case JitRecord::kUnwindingInfo:
        take_unwinding(body);
        return {};
      default:
        return {};
    }
  }

  Status take_load(std::uint64_t time, bytes::ByteCursor body) {
    body.skip(16);  // process, thread, where it will be mapped
    JitDump::Code code;
    code.time = time;
    code.start = body.read<std::uint64_t>();
    code.size = body.read<std::uint64_t>();
    const auto index = body.read<std::uint64_t>();
    const std::string_view name = body.ok() ? body.read_c_string() : std::string_view();
    ++dump_.counts_.loads;
    if (name.empty() || !add_range(code)) {
      ++dump_.counts_.unread_records;
      pending_frames_.clear();
      return {};
    }
    code.name = static_cast<std::uint32_t>(dump_.texts_.size());
    dump_.texts_.add(name);
    take_pending_lines(code);
    take_pending_frames(code);
    by_index_[index] = static_cast<std::uint32_t>(dump_.codes_.size());
    return add_code(code);
  }

  Status take_move(std::uint64_t time, bytes::ByteCursor body) {
    body.skip(16);
    body.skip(8);  // where it was
    const auto start = body.read<std::uint64_t>();
    const auto size = body.read<std::uint64_t>();
    const auto index = body.read<std::uint64_t>();
    ++dump_.counts_.moves;
    const auto known = by_index_.find(index);
    if (!body.ok() || known == by_index_.end()) {
      ++dump_.counts_.unread_records;
      return {};
    }
    JitDump::Code code = dump_.codes_[known->second];
    code.time = time;
    code.start = start;
    code.size = size;
    code.line_count = 0;  // they have addresses of the place before
    code.reused = false;
    if (!add_range(code)) {
      ++dump_.counts_.unread_records;
      return {};
    }
    known->second = static_cast<std::uint32_t>(dump_.codes_.size());
    return add_code(code);
  }

  // False for a range that is none.
  bool add_range(JitDump::Code& code) {
    if (code.size == 0 || code.size > ~std::uint64_t{0} - code.start) {
      return false;
    }
    const auto number = static_cast<std::uint32_t>(dump_.codes_.size());
    code.reused =
        dump_.latest_.add(code.start, code.start + code.size, number,
                          [this](std::uint32_t other) { dump_.codes_[other].reused = true; });
    return true;
  }

  Status add_code(const JitDump::Code& code) {
    if (dump_.codes_.size() >= kMostCodes) {
      return Error{ErrorCode::kLimit, reader_.offset(), "jitdump: too much code"};
    }
    dump_.codes_.push_back(code);
    return {};
  }

  // What is known of the frames of the code that comes next: .eh_frame, then .eh_frame_hdr.
  void take_unwinding(bytes::ByteCursor body) {
    const auto size = body.read<std::uint64_t>();
    const auto header_size = body.read<std::uint64_t>();
    body.skip(8);  // how much of it the program has mapped
    pending_frames_.clear();
    if (size == 0) {
      return;
    }
    if (!body.ok() || header_size > size || size > body.remaining()) {
      ++dump_.counts_.unread_records;
      return;
    }
    const std::span<const std::byte> table = body.read_bytes(size - header_size);
    pending_frames_.assign(table.begin(), table.end());
  }

  void take_pending_frames(JitDump::Code& code) {
    std::vector<std::byte>& all = dump_.frame_bytes_;
    if (pending_frames_.size() <= JitDump::kMostFrameBytes - all.size()) {
      code.first_frame_byte = all.size();
      code.frame_byte_count = static_cast<std::uint32_t>(pending_frames_.size());
      all.insert(all.end(), pending_frames_.begin(), pending_frames_.end());
    }
    pending_frames_.clear();
  }

  // Lines come before the code that they are of.
  void take_debug_info(bytes::ByteCursor body) {
    pending_address_ = body.read<std::uint64_t>();
    const auto count = body.read<std::uint64_t>();
    pending_lines_.clear();
    std::string file;
    for (std::uint64_t i = 0; i < count && body.remaining() >= 17; ++i) {
      JitDump::Line& line = pending_lines_.emplace_back();
      line.address = body.read<std::uint64_t>();
      line.line = body.read<std::uint32_t>();
      body.skip(4);  // discriminator
      const std::string_view name = body.read_c_string();
      if (name != kSameFile) {
        file = name;
      }
      line.file = files_.text(file);
    }
    if (pending_lines_.size() != count) {
      ++dump_.counts_.unread_records;
    }
    has_pending_ = true;
  }

  void take_pending_lines(JitDump::Code& code) {
    if (has_pending_ && pending_address_ == code.start &&
        any_in(addresses_, code.start, code.size)) {
      core::sort_rows(pending_lines_, [](const JitDump::Line& a, const JitDump::Line& b) {
        return a.address < b.address;
      });
      code.first_line = dump_.lines_.size();
      code.line_count = static_cast<std::uint32_t>(pending_lines_.size());
      for (JitDump::Line line : pending_lines_) {
        const std::string_view file = line.file == kNoText ? std::string_view() : files_[line.file];
        line.file = static_cast<std::uint32_t>(dump_.texts_.size());
        dump_.texts_.add(file);
        dump_.lines_.push_back(line);
      }
    }
    has_pending_ = false;
  }

  io::BufferedReader reader_;
  std::span<const std::uint64_t> addresses_;
  bytes::ByteOrder order_ = bytes::ByteOrder::kLittle;
  bool closed_ = false;
  JitDump dump_;
  NameCollector files_;
  std::map<std::uint64_t, std::uint32_t> by_index_;  // number of code to its last place
  bool has_pending_ = false;
  std::uint64_t pending_address_ = 0;
  std::vector<JitDump::Line> pending_lines_;
  std::vector<std::byte> pending_frames_;
};

Result<JitDump> JitDump::read(io::ByteSource& source, std::span<const std::uint64_t> addresses) {
  return JitDumpReader(source, addresses).run();
}

JitDump::Frames JitDump::frames(std::size_t piece) const {
  const Code& code = codes_[piece];
  return {code.time, code.start, code.size,
          std::span(frame_bytes_).subspan(code.first_frame_byte, code.frame_byte_count),
          code.reused};
}

void JitDump::add_function(std::uint32_t number, const CodeRange& range, bool births,
                           NameCollector& names) const {
  const Code& code = codes_[number];
  if (texts_[code.name].empty()) {
    return;
  }
  Function row;
  static_cast<CodeRange&>(row) = range;
  row.source = FunctionSource::kJitdump;
  row.name = names.text(texts_[code.name]);
  row.born_ns = births ? code.time : kUnknownTime;
  if (code.line_count != 0) {
    row.file = names.text(texts_[lines_[code.first_line].file]);
    row.line = lines_[code.first_line].line;
  }
  names.add_function(row);
}

void JitDump::name(const SymbolRequest& request, const CodeRange& owner, bool births,
                   NameCollector& names) const {
  CodeRange range = owner;
  if (births) {
    for (std::uint32_t number = 0; number < codes_.size(); ++number) {
      const Code& code = codes_[number];
      if (any_in(request.addresses, code.start, code.size)) {
        range.start = code.start;
        range.size = code.size;
        add_function(number, range, true, names);
        CodeRange of_code = owner;
        of_code.start = code.start;
        of_code.size = code.size;
        add_lines(code, request, of_code, code.reused ? code.time : kUnknownTime, names);
      }
    }
    return;
  }
  std::uint64_t named_up_to = 0;
  for (const std::uint64_t address : request.addresses) {
    const std::optional<LatestRanges::Piece> piece = latest_.at(address);
    if (address >= named_up_to && piece) {
      range.start = piece->start;
      range.size = piece->end - piece->start;
      add_function(piece->number, range, false, names);
      add_lines(codes_[piece->number], request, range, kUnknownTime, names);
      named_up_to = piece->end;
    }
  }
}

void JitDump::add_lines(const Code& code, const SymbolRequest& request, const CodeRange& within,
                        std::uint64_t born_ns, NameCollector& names) const {
  if (!request.inlines) {
    return;
  }
  const std::uint64_t within_end = within.start + within.size;
  const std::span<const Line> lines = std::span(lines_).subspan(code.first_line, code.line_count);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::uint64_t start = std::max(lines[i].address, within.start);
    const std::uint64_t end =
        std::min(i + 1 < lines.size() ? lines[i + 1].address : within_end, within_end);
    if (start >= end || lines[i].line == 0 || !any_in(request.addresses, start, end - start)) {
      continue;
    }
    CodeLine row;
    static_cast<CodeRange&>(row) = within;
    row.start = start;
    row.size = end - start;
    row.born_ns = born_ns;
    row.file = names.text(texts_[lines[i].file]);
    row.line = lines[i].line;
    names.add_line(row);
  }
}

}  // namespace stackpack::symbolize
