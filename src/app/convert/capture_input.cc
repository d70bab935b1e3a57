#include "app/convert/capture_input.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "app/convert/archive_members.h"
#include "app/convert/capture_formats.h"
#include "app/convert/capture_probe.h"
#include "bytes/byte_writer.h"
#include "bytes/hash.h"
#include "codec/plain_text.h"

namespace stackpack::app {

namespace {

constexpr Error kStandsAlone{ErrorCode::kUsage, kNoOffset,
                             "captures of this format stand alone; --session is for .etl files"};

// A pipe could go on for ever; a spool of it cannot.
constexpr std::uint64_t kSpoolLimit = std::uint64_t{1} << 40;

Result<FormatChoice> choice_of(const HeadBytes& head, const std::string& asked) {
  if (head.bytes.empty()) {
    return Error{ErrorCode::kTruncated, 0, "input is empty"};
  }
  if (asked.empty()) {
    return FormatChoice(head.view());
  }
  const capture::SourceFormat* const named = format_named(asked);
  if (named == nullptr) {
    return Error{ErrorCode::kUsage, kNoOffset, "unknown capture format"};
  }
  // Damage may hide what a file is, and does not make it certainly something else.
  const FormatAnswer best = ask_formats(head.view()).front();
  if (best.format != named && best.probe.answer == capture::ProbeAnswer::kCertain &&
      !named->probe(head.view())) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "is of another format than --format says"};
  }
  return FormatChoice(*named);
}

Status read_to_end(io::ByteSource& stream) {
  std::vector<std::byte> rest(std::size_t{1} << 16);
  while (true) {
    const Result<std::size_t> count = stream.read(rest);
    if (!count || *count == 0) {
      return count ? Status{} : Status(count.error());
    }
  }
}

Result<std::unique_ptr<io::ByteSource>> open_path(const std::string& path) {
  return path == "-" ? Result(io::source_of_standard_input()) : io::open_source(path);
}

}  // namespace

Result<CaptureInput> CaptureInput::open(const std::string& path, const ConvertOptions& options,
                                        const std::string& scratch_directory,
                                        std::vector<FormatTried>& tried) {
  CaptureInput input;
  input.scratch_directory_ = scratch_directory;
  const bool session = options.member.empty() && is_session_archive(path);
  if (const Status added = input.add_path(path, options, session); !added) {
    tried = input.choice_.tried();
    return added.error();
  }
  return input;
}

Result<CaptureInput> CaptureInput::open_session(std::span<const std::string> paths,
                                                const ConvertOptions& options,
                                                const std::string& scratch_directory,
                                                std::vector<FormatTried>& tried) {
  CaptureInput input;
  input.scratch_directory_ = scratch_directory;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (const Status added = input.add_path(paths[i], options, true); !added) {
      Error error = added.error();
      error.part = static_cast<std::uint32_t>(i);
      tried = input.choice_.tried();
      return error;
    }
    input.owners_.resize(1 + input.bytes_.parts.size(), static_cast<std::uint32_t>(i));
  }
  if (input.bytes_.main == nullptr) {
    return Error{ErrorCode::kUsage, kNoOffset, "no input"};
  }
  if (!input.format().has_sessions) {
    return kStandsAlone;
  }
  return input;
}

Status CaptureInput::add_path(const std::string& path, const ConvertOptions& options,
                              bool session) {
  Result<std::unique_ptr<io::ByteSource>> opened = open_path(path);
  if (!opened && opened.error().code == ErrorCode::kUnsupported) {
    if (bytes_.main != nullptr) {
      return kStandsAlone;
    }
    Result<OpenedDirectory> directory = open_directory(path);
    if (!directory) {
      return directory.error();
    }
    choice_ = FormatChoice(*directory->format);
    bytes_ = std::move(directory->bytes);
    hash_passing(bytes_.main);
    for (capture::CaptureBytes::Part& part : bytes_.parts) {
      hash_passing(part.source);
    }
    return {};
  }
  if (!opened) {
    return opened.error();
  }
  std::unique_ptr<io::ByteSource> source = std::move(*opened);
  if (!source->seekable()) {
    if (passing_ != nullptr) {
      return Error{ErrorCode::kUsage, kNoOffset, "only one input of a session may be a pipe"};
    }
    passing_ = std::make_unique<ContentDigest>();
    source = digested_stream(std::move(source), *passing_);
  } else if (path == "-") {
    Result<std::string> content = ContentDigest::of(*source);
    if (!content) {
      return content.error();
    }
    content_ = std::move(*content);
  }
  const Result<HeadBytes> head = peek_head(source);
  if (!head) {
    return head.error();
  }
  if (!codec::ZipArchive::looks_like_zip(head->bytes)) {
    return add_source(std::move(source), path, options, session);
  }
  if (const Status spooled = make_seekable(source); !spooled) {
    return spooled;
  }
  return add_archive(*source, path, options, session);
}

Status CaptureInput::add_archive(io::ByteSource& archive, const std::string& path,
                                 const ConvertOptions& options, bool session) {
  const Result<std::unique_ptr<CaptureArchive>> captures =
      CaptureArchive::open(archive, options.member, path);
  if (!captures) {
    return captures.error();
  }
  if (!session || !options.member.empty() || (*captures)->count() < 2) {
    Result<std::unique_ptr<io::ByteSource>> member =
        (*captures)->unpack_named(options.member, scratch_directory_);
    return member ? add_source(std::move(*member), {}, options, false) : Status(member.error());
  }
  const std::vector<std::string> names = (*captures)->names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Result<std::unique_ptr<io::ByteSource>> member = (*captures)->unpack(i, scratch_directory_);
    if (!member) {
      return member.error();
    }
    const Status added = add_source(std::move(*member), names[i], options, true);
    if (!added) {
      return added;
    }
  }
  return {};
}

// Copies a stream to a nameless file.
Status CaptureInput::make_seekable(std::unique_ptr<io::ByteSource>& source) {
  if (source->seekable()) {
    return {};
  }
  Result<std::unique_ptr<io::ByteSource>> spooled =
      io::spool_to_temporary(*source, scratch_directory_, kSpoolLimit);
  if (!spooled) {
    return spooled.error();
  }
  source = std::move(*spooled);
  spooled_ = true;
  return {};
}

Status CaptureInput::add_source(std::unique_ptr<io::ByteSource> source, const std::string& name,
                                const ConvertOptions& options, bool session) {
  Result<HeadBytes> head = peek_head(source);
  if (!head) {
    return head.error();
  }
  const codec::FileCompression compression = compression_around(*head, options.format);
  if (compression == codec::FileCompression::kXz) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "compressed with xz: unpack it first (xz -dk FILE)"};
  }
  if (compression != codec::FileCompression::kNone) {
    damages_.push_back(std::make_unique<codec::StreamDamage>());
    source = codec::decompressed_source(std::move(source), compression, *damages_.back());
    head = peek_head(source);
    if (!head) {
      return head.error();
    }
    if (head->bytes.empty() && damages_.back()->error) {
      return *damages_.back()->error;
    }
  }
  if (const auto encoding = codec::text_encoding_of(head->bytes);
      encoding != codec::TextEncoding::kPlain) {
    source = codec::plain_text_source(std::move(source), encoding);
    head = peek_head(source);
    if (!head) {
      return head.error();
    }
  }
  // A trace of which nothing can be read is for the reader of the session to count.
  const capture::SourceFormat* const named = session ? format_by_ending(name) : nullptr;
  if (named != nullptr && named->has_sessions && format_of(head->view()) == nullptr) {
    const Status spooled = make_seekable(source);
    return spooled ? add_bytes(FormatChoice(*named), std::move(source)) : spooled;
  }
  Result<FormatChoice> choice = choice_of(*head, options.format);
  if (!choice) {
    return choice.error();
  }
  const capture::SourceFormat* const format = choice->format();
  if (format == nullptr) {
    choice_ = std::move(*choice);
    return choice_.error_of_all({});
  }
  // Dumps are unwound when all mappings are known: such a capture is read twice, as is one that may
  // be of several formats.
  if (!format->streams(head->bytes) || (options.unwind && format->has_dumps) ||
      choice->has_more()) {
    if (const Status spooled = make_seekable(source); !spooled) {
      return spooled;
    }
  }
  return add_bytes(std::move(*choice), std::move(source));
}

Status CaptureInput::add_bytes(FormatChoice choice, std::unique_ptr<io::ByteSource> source) {
  const capture::SourceFormat* const format = choice.format();
  if (bytes_.main != nullptr && (format != choice_.format() || !format->has_sessions)) {
    return kStandsAlone;
  }
  hash_passing(source);
  if (bytes_.main == nullptr) {
    choice_ = std::move(choice);
    bytes_.main = std::move(source);
    return {};
  }
  bytes_.parts.push_back({static_cast<std::uint32_t>(bytes_.parts.size() + 1), std::move(source)});
  return {};
}

void CaptureInput::hash_passing(std::unique_ptr<io::ByteSource>& source) {
  auto hashed = std::make_unique<HashedSource>(std::move(source));
  hashed_.push_back(hashed.get());
  source = std::move(hashed);
}

Result<std::optional<capture::SourceIdentity>> CaptureInput::identity() {
  std::vector<capture::SourceIdentity> hashes;
  for (std::size_t i = 0; i < hashed_.size(); ++i) {
    const Result<std::optional<capture::SourceIdentity>> hash = hashed_[i]->finish();
    if (!hash) {
      Error error = hash.error();
      error.part = i == 0 ? kMainPart : bytes_.parts[i - 1].number;
      return of_path(error);
    }
    if (!*hash) {
      return hash;
    }
    hashes.push_back(**hash);
  }
  if (hashes.size() == 1) {
    return std::optional(hashes.front());
  }
  std::sort(hashes.begin(), hashes.end());  // the parts of a session come in any order
  bytes::ByteWriter all;
  for (const capture::SourceIdentity& hash : hashes) {
    all.write_bytes(hash);
  }
  return std::optional(bytes::xxh3_128(all.bytes()));
}

Result<std::string> CaptureInput::content() {
  if (passing_ == nullptr) {
    return content_;
  }
  // A source may stop before the end of its stream; the digest is of all of it.
  const Status read = spooled_ ? Status{} : read_to_end(*bytes_.main);
  return read ? Result<std::string>(passing_->finish()) : read.error();
}

std::optional<std::uint64_t> CaptureInput::size() const {
  std::optional<std::uint64_t> total = bytes_.main->size();
  for (const capture::CaptureBytes::Part& part : bytes_.parts) {
    const std::optional<std::uint64_t> size = part.source->size();
    total = total && size ? std::optional(*total + *size) : std::nullopt;
  }
  return total;
}

Result<capture::ByteAccount> CaptureInput::read(capture::CallstackSink& sink,
                                                const capture::ReadControl& control,
                                                capture::DumpUnwinder* unwinder) {
  Result<capture::ByteAccount> account =
      format().read(bytes_, sink, {control, scratch_directory_, unwinder});
  for (const std::unique_ptr<codec::StreamDamage>& damage : damages_) {
    if (damage->error) {
      sink.losses().add(kCompressedInputDamaged, LossKind::kDamage, 1, damage->error->offset);
    }
  }
  return account ? account : of_path(account.error());
}

bool CaptureInput::choose_next(const Error& error) {
  return choice_.choose_next(error);
}

Error CaptureInput::of_path(Error error) const {
  if (format().has_sessions) {
    error.part = error.part < owners_.size() ? owners_[error.part] : kMainPart;
  }
  return error;
}

}  // namespace stackpack::app
