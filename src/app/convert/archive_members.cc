#include "app/convert/archive_members.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/convert/capture_formats.h"
#include "codec/decompressed_source.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace {

// Traces of days grow to tens of gigabytes; beyond this it is no trace.
constexpr std::uint64_t kMaxMemberBytes = std::uint64_t{1} << 40;

// Conversions that one archive may make.
constexpr std::size_t kMaxCaptures = 1024;

Result<bool> is_zip(io::ByteSource& source) {
  std::array<std::byte, 4> head{};
  const Result<std::size_t> count = source.read_at(0, head);
  if (!count) {
    return count.error();
  }
  return codec::ZipArchive::looks_like_zip(std::span(head).first(*count));
}

// There may be many members: most are told by their first bytes.
constexpr std::size_t kFirstLook = 4096;

Result<capture::ProbeAnswer> answer_to(codec::ZipArchive& zip, std::size_t member,
                                       std::size_t size) {
  const Result<std::vector<std::byte>> head = zip.read_head(member, size);
  if (!head) {
    return head.error();
  }
  return ask_formats({*head, head->size() == zip.members()[member].size}).front().probe.answer;
}

// A member that cannot be looked into is no capture; reading fails for good where the source does.
Result<capture::ProbeAnswer> answer_to(codec::ZipArchive& zip, std::size_t member) {
  if (format_by_ending(zip.members()[member].name) != nullptr) {
    return capture::ProbeAnswer::kCertain;
  }
  if (zip.members()[member].size == 0) {
    return capture::ProbeAnswer::kNo;
  }
  Result<capture::ProbeAnswer> answer = answer_to(zip, member, kFirstLook);
  if (answer && *answer == capture::ProbeAnswer::kPossible) {
    answer = answer_to(zip, member, capture::kProbeBytes);
  }
  const bool unknown = !answer && (answer.error().code == ErrorCode::kIo ||
                                   answer.error().code == ErrorCode::kResource);
  return answer || unknown ? answer : Result<capture::ProbeAnswer>(capture::ProbeAnswer::kNo);
}

ArchiveOfBatch*& archive_of_thread() {
  thread_local ArchiveOfBatch* archive = nullptr;
  return archive;
}

}  // namespace

ArchiveOfBatch::Joined::Joined(ArchiveOfBatch& archive)
    : before_(std::exchange(archive_of_thread(), &archive)) {}

ArchiveOfBatch::Joined::~Joined() {
  archive_of_thread() = before_;
}

Result<std::unique_ptr<codec::ZipArchive>> ArchiveOfBatch::open(io::ByteSource& source,
                                                                const std::string& path) {
  const std::scoped_lock lock(mutex_);
  if (members_ != nullptr && path_ == path && size_ == source.size()) {
    return std::make_unique<codec::ZipArchive>(source, members_);
  }
  Result<std::unique_ptr<codec::ZipArchive>> opened = codec::ZipArchive::open(source);
  if (opened) {
    path_ = path;
    size_ = source.size();
    members_ = (*opened)->shared_members();
  }
  return opened;
}

Result<std::unique_ptr<CaptureArchive>> CaptureArchive::open(io::ByteSource& archive,
                                                             const std::string& named,
                                                             const std::string& path) {
  const Result<bool> zip = is_zip(archive);
  if (!zip) {
    return zip.error();
  }
  if (!*zip) {
    return std::unique_ptr<CaptureArchive>();
  }
  ArchiveOfBatch* const batch = named.empty() ? nullptr : archive_of_thread();
  auto opened = batch == nullptr ? codec::ZipArchive::open(archive) : batch->open(archive, path);
  if (!opened) {
    return opened.error();
  }
  std::unique_ptr<CaptureArchive> captures(new CaptureArchive(std::move(*opened)));
  const codec::ZipArchive::Members& members = captures->zip_->members();
  if (!named.empty()) {
    return captures;
  }
  std::vector<std::size_t> possible;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Result<capture::ProbeAnswer> answer = answer_to(*captures->zip_, i);
    if (!answer) {
      return answer.error();
    }
    if (*answer != capture::ProbeAnswer::kNo) {
      (*answer == capture::ProbeAnswer::kCertain ? captures->captures_ : possible).push_back(i);
    }
  }
  if (captures->captures_.empty()) {
    captures->captures_ = std::move(possible);
  }
  if (captures->captures_.size() > kMaxCaptures) {
    return Error{ErrorCode::kLimit, kNoOffset, "zip: holds more than 1,024 captures"};
  }
  std::uint64_t unpacked = 0;
  std::uint64_t packed = 0;
  for (const std::size_t member : captures->captures_) {
    unpacked += std::min(members[member].size, kMaxMemberBytes);
    packed += members[member].compressed_size;
  }
  if (codec::grows_too_much(unpacked, packed)) {
    return Error{ErrorCode::kLimit, kNoOffset,
                 "zip: grows to more than 256 times its size; unpack it first if that is right"};
  }
  return captures;
}

std::vector<std::string> CaptureArchive::names() const {
  std::vector<std::string> names;
  for (const std::size_t member : captures_) {
    names.push_back(zip_->members()[member].name);
  }
  return names;
}

Result<std::unique_ptr<io::ByteSource>> CaptureArchive::unpack_member(
    std::size_t member, const std::string& directory) {
  return zip_->extract(member, directory, kMaxMemberBytes);
}

Result<std::unique_ptr<io::ByteSource>> CaptureArchive::unpack(std::size_t number,
                                                               const std::string& directory) {
  return unpack_member(captures_[number], directory);
}

Result<std::unique_ptr<io::ByteSource>> CaptureArchive::unpack_named(const std::string& name,
                                                                     const std::string& directory) {
  std::vector<std::size_t> chosen;
  if (name.empty()) {
    chosen = captures_;
  } else {
    const codec::ZipArchive::Members& members = zip_->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].name == name) {
        chosen.push_back(i);
      }
    }
  }
  if (chosen.empty()) {
    return name.empty() ? Error{ErrorCode::kUnsupported, kNoOffset, "zip: holds no capture"}
                        : Error{ErrorCode::kUsage, kNoOffset, "zip: holds no member of that name"};
  }
  if (chosen.size() > 1) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "zip: holds several captures; choose one with --member, convert each with "
                 "--out-dir, or .etl files of one recording together with --session"};
  }
  const Result<std::vector<std::byte>> head = zip_->read_head(chosen.front(), capture::kProbeBytes);
  if (!head) {
    return head.error();
  }
  if (!head->empty() && format_of({*head}) == nullptr) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "zip: the member is not a capture"};
  }
  return unpack_member(chosen.front(), directory);
}

bool is_session_archive(const std::string& path) {
  return ends_with(path, ".diagsession") || ends_with(path, ".etl.zip");
}

}  // namespace stackpack::app

namespace stackpack {

Result<std::vector<std::string>> captures_in_archive(const std::string& path) {
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_source(path);
  if (!source) {
    return source.error();
  }
  if (!(*source)->seekable()) {
    return std::vector<std::string>();
  }
  const Result<std::unique_ptr<app::CaptureArchive>> archive = app::CaptureArchive::open(**source);
  if (!archive) {
    return archive.error();
  }
  return *archive != nullptr ? (*archive)->names() : std::vector<std::string>();
}

}  // namespace stackpack
