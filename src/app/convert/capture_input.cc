#include "app/convert/capture_input.h"

#include <algorithm>
#include <span>
#include <vector>

#include "app/convert/archive_members.h"
#include "app/convert/trace_facts.h"
#include "formats/etl/etl_source.h"
#include "formats/folded/folded_source.h"
#include "formats/pprof/pprof_source.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kHeadBytes =
    std::max({perf::kDetectBytes, etl::kDetectBytes, folded::kDetectBytes, pprof::kDetectBytes});

// A pipe could go on for ever; a spool of it cannot.
constexpr std::uint64_t kSpoolLimit = std::uint64_t{1} << 40;

Result<std::vector<std::byte>> read_head(io::ByteSource& source) {
  std::vector<std::byte> head(kHeadBytes);
  std::size_t size = 0;
  while (size < head.size()) {
    const auto rest = std::span(head).subspan(size);
    const Result<std::size_t> count =
        source.seekable() ? source.read_at(size, rest) : source.read(rest);
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      break;
    }
    size += *count;
  }
  head.resize(size);
  return head;
}

Result<CaptureFormat> tell_format(std::span<const std::byte> head, CaptureFormat asked) {
  if (head.empty()) {
    return Error{ErrorCode::kTruncated, 0, "input is empty"};
  }
  if (asked != CaptureFormat::kAuto) {
    return asked;
  }
  if (perf::detect(head) != perf::Container::kNotPerf) {
    return CaptureFormat::kPerf;
  }
  if (etl::looks_like_etl(head)) {
    return CaptureFormat::kEtl;
  }
  if (pprof::looks_like_pprof(head)) {
    return CaptureFormat::kPprof;
  }
  if (folded::looks_like_folded(head)) {
    return CaptureFormat::kFolded;
  }
  return Error{ErrorCode::kUnsupported, 0,
               "not a capture: neither perf.data nor .etl, folded text or pprof"};
}

}  // namespace

Result<CaptureInput> CaptureInput::open(const std::string& path, const ConvertOptions& options,
                                        const std::string& scratch_directory) {
  CaptureInput input;
  input.scratch_directory_ = scratch_directory;
  std::unique_ptr<io::ByteSource> source;
  if (path == "-") {
    source = io::source_of_standard_input();
  } else {
    Result<std::unique_ptr<io::ByteSource>> opened = io::open_source(path);
    if (!opened && opened.error().code == ErrorCode::kUnsupported) {  // a directory
      Result<perf::Input> directory = perf::open_directory(path);
      if (!directory) {
        return directory.error();
      }
      input.format_ = CaptureFormat::kPerf;
      input.perf_ = std::move(*directory);
      return input;
    }
    if (!opened) {
      return opened.error();
    }
    source = std::move(*opened);
  }
  if (!source->seekable()) {
    input.passing_ = std::make_unique<ContentDigest>();
    source = digested_stream(std::move(source), *input.passing_);
  } else if (path == "-") {
    Result<std::string> content = ContentDigest::of(*source);
    if (!content) {
      return content.error();
    }
    input.content_ = std::move(*content);
  }
  if (source->seekable()) {
    Result<std::unique_ptr<io::ByteSource>> member =
        open_member(*source, options.member, scratch_directory);
    if (!member) {
      return member.error();
    }
    source = *member != nullptr ? std::move(*member) : std::move(source);
  }
  if (const Status adopted = input.adopt(std::move(source), options.format, scratch_directory);
      !adopted) {
    return adopted.error();
  }
  return input;
}

Status CaptureInput::adopt(std::unique_ptr<io::ByteSource> source, CaptureFormat asked,
                           const std::string& scratch_directory) {
  Result<std::vector<std::byte>> head = read_head(*source);
  if (!head) {
    return head.error();
  }
  const Result<CaptureFormat> told = tell_format(*head, asked);
  if (!told) {
    return told.error();
  }
  const bool streams =
      *told == CaptureFormat::kFolded ||
      (*told == CaptureFormat::kPerf && perf::detect(*head) == perf::Container::kPipe);
  if (!source->seekable()) {
    source = io::source_with_head(std::move(*head), std::move(source));
    if (!streams) {
      Result<std::unique_ptr<io::ByteSource>> spooled =
          io::spool_to_temporary(*source, scratch_directory, kSpoolLimit);
      if (!spooled) {
        return spooled.error();
      }
      source = std::move(*spooled);
      spooled_ = true;
    }
  }
  format_ = *told;
  if (format_ == CaptureFormat::kPerf) {
    perf_.main = std::move(source);
  } else {
    single_ = std::move(source);
  }
  return {};
}

Result<std::string> CaptureInput::content() {
  if (passing_ == nullptr) {
    return content_;
  }
  // A source may stop before the end of its stream; the digest is of all of it.
  std::vector<std::byte> rest(std::size_t{1} << 16);
  while (!spooled_) {
    io::ByteSource& stream = single_ != nullptr ? *single_ : *perf_.main;
    const Result<std::size_t> count = stream.read(rest);
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      break;
    }
  }
  return passing_->finish();
}

std::string CaptureInput::kind() const {
  switch (format_) {
    case CaptureFormat::kEtl:
      return "etl";
    case CaptureFormat::kFolded:
      return "folded";
    case CaptureFormat::kPprof:
      return "pprof";
    case CaptureFormat::kPerf:
    case CaptureFormat::kAuto:
      break;
  }
  return "perf";
}

std::optional<std::uint64_t> CaptureInput::size() const {
  if (single_ != nullptr) {
    return single_->size();
  }
  std::optional<std::uint64_t> total = perf_.main->size();
  for (const perf::Input::Part& part : perf_.parts) {
    const std::optional<std::uint64_t> size = part.source->size();
    total = total && size ? std::optional(*total + *size) : std::nullopt;
  }
  return total;
}

Result<capture::ByteAccount> CaptureInput::read(capture::CallstackSink& sink,
                                                const capture::ReadControl& control) {
  switch (format_) {
    case CaptureFormat::kEtl: {
      etl::ReadOptions options;
      options.control = control;
      options.scratch_directory = scratch_directory_;
      etl::TraceSummary summary;
      options.summary = &summary;
      Result<capture::ByteAccount> account = etl::read_capture(*single_, sink, options);
      if (account) {
        keep_trace_totals(summary, sink.system());
      }
      return account;
    }
    case CaptureFormat::kFolded: {
      folded::ReadOptions options;
      options.control = control;
      return folded::read_capture(*single_, sink, options);
    }
    case CaptureFormat::kPprof: {
      pprof::ReadOptions options;
      options.control = control;
      return pprof::read_capture(*single_, sink, options);
    }
    case CaptureFormat::kPerf:
    case CaptureFormat::kAuto:
      break;
  }
  perf::ReadOptions options;
  options.control = control;
  return perf::read_capture(perf_, sink, options);
}

}  // namespace stackpack::app
