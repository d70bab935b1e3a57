#include "codec/zip_archive.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include <zip.h>

#include "codec/growth_limit.h"

namespace stackpack::codec {

namespace {

constexpr Error kNotUnpacked{ErrorCode::kUnsupported, kNoOffset, "zip: member cannot be unpacked"};
constexpr Error kOtherSize{ErrorCode::kCorrupt, kNoOffset,
                           "zip: member does not have the size that it claims"};

// Lets libzip read through a ByteSource.
class SourceAdapter {
 public:
  explicit SourceAdapter(io::ByteSource& source) : source_(source) {}

  static zip_int64_t callback(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    return static_cast<SourceAdapter*>(self)->handle(data, size, command);
  }

  // What a failure of libzip is: `damage`, unless the source failed before.
  /// Why libzip gave up with this error of its own: its memory, our reading, or the `damage`.
  [[nodiscard]] Error cause(const Error& damage, zip_error_t* error) const {
    return zip_error_code_zip(error) == ZIP_ER_MEMORY
               ? Error{ErrorCode::kResource, kNoOffset, "zip: out of memory"}
               : failed_.value_or(damage);
  }

 private:
  zip_int64_t handle(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        position_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return read(static_cast<std::byte*>(data), size);
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_STAT: {
        auto* status = static_cast<zip_stat_t*>(data);
        zip_stat_init(status);
        status->size = *source_.size();
        status->valid |= ZIP_STAT_SIZE;
        return sizeof(zip_stat_t);
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, size);
      case ZIP_SOURCE_SEEK:
        return seek(data, size);
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(position_);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
            ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
      default:
        zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  zip_int64_t read(std::byte* data, zip_uint64_t size) {
    const Result<std::size_t> count =
        source_.read_at(position_, std::span(data, static_cast<std::size_t>(size)));
    if (!count) {
      failed_ = count.error();
      zip_error_set(&error_, ZIP_ER_READ, count.error().os_error);
      return -1;
    }
    position_ += *count;
    return static_cast<zip_int64_t>(*count);
  }

  zip_int64_t seek(void* data, zip_uint64_t size) {
    const zip_int64_t target =
        zip_source_seek_compute_offset(position_, *source_.size(), data, size, &error_);
    if (target < 0) {
      return -1;
    }
    position_ = static_cast<std::uint64_t>(target);
    return 0;
  }

  io::ByteSource& source_;
  std::uint64_t position_ = 0;
  zip_error_t error_{};
  std::optional<Error> failed_;
};

// One member as a stream.
class MemberSource final : public io::ByteSource {
 public:
  MemberSource(zip_file_t* file, const SourceAdapter& archive) : file_(file), archive_(archive) {}
  MemberSource(const MemberSource&) = delete;
  MemberSource& operator=(const MemberSource&) = delete;
  ~MemberSource() override { zip_fclose(file_); }

  Result<std::size_t> read(std::span<std::byte> into) override {
    const zip_int64_t count = zip_fread(file_, into.data(), into.size());
    if (count < 0) {
      return archive_.cause({ErrorCode::kCorrupt, kNoOffset, "zip: member is damaged"},
                            zip_file_get_error(file_));
    }
    return static_cast<std::size_t>(count);
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "zip: member cannot be read at an offset"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  zip_file_t* file_;
  const SourceAdapter& archive_;
};

}  // namespace

struct ZipArchive::Handle {
  explicit Handle(io::ByteSource& source) : adapter(source) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (zip != nullptr) {
      zip_discard(zip);
    }
  }

  SourceAdapter adapter;
  zip_t* zip = nullptr;
};

bool ZipArchive::looks_like_zip(std::span<const std::byte> head) {
  constexpr char kLocalHeader[4] = {'P', 'K', 3, 4};
  return head.size() >= sizeof kLocalHeader &&
         std::memcmp(head.data(), kLocalHeader, sizeof kLocalHeader) == 0;
}

ZipArchive::ZipArchive(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
ZipArchive::~ZipArchive() = default;

Result<std::unique_ptr<ZipArchive>> ZipArchive::open(io::ByteSource& source) {
  if (!source.seekable()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "zip: input cannot be read at an offset"};
  }
  auto handle = std::make_unique<Handle>(source);
  zip_error_t error{};
  zip_source_t* adapted =
      zip_source_function_create(&SourceAdapter::callback, &handle->adapter, &error);
  if (adapted != nullptr) {
    handle->zip = zip_open_from_source(adapted, ZIP_RDONLY, &error);
  }
  if (handle->zip == nullptr) {
    const Error cause = handle->adapter.cause(
        {ErrorCode::kCorrupt, kNoOffset, "zip: not a readable archive"}, &error);
    zip_source_free(adapted);
    zip_error_fini(&error);
    return cause;
  }
  std::unique_ptr<ZipArchive> archive(new ZipArchive(std::move(handle)));
  const zip_int64_t count = zip_get_num_entries(archive->handle_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t status{};
    Member& member = archive->members_.emplace_back();
    if (zip_stat_index(archive->handle_->zip, static_cast<zip_uint64_t>(i), 0, &status) == 0 &&
        (status.valid & ZIP_STAT_NAME) != 0) {
      member = {status.name, status.size, status.comp_size};
    }
  }
  // Each byte of an archive belongs to one member at most. Else a small archive could hold the same
  // large content many times over.
  std::uint64_t unclaimed = source.size().value_or(0);
  for (const Member& member : archive->members_) {
    if (member.compressed_size > unclaimed) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "zip: members overlap"};
    }
    unclaimed -= member.compressed_size;
  }
  return archive;
}

Result<std::vector<std::byte>> ZipArchive::read_head(std::size_t member, std::size_t size) {
  zip_file_t* file = zip_fopen_index(handle_->zip, member, 0);
  if (file == nullptr) {
    return handle_->adapter.cause(kNotUnpacked, zip_get_error(handle_->zip));
  }
  MemberSource stream(file, handle_->adapter);
  std::vector<std::byte> head(size);
  std::size_t done = 0;
  while (done < size) {
    const Result<std::size_t> count = stream.read(std::span(head).subspan(done));
    if (!count &&
        (count.error().code == ErrorCode::kIo || count.error().code == ErrorCode::kResource)) {
      return count.error();
    }
    if (!count || *count == 0) {
      break;
    }
    done += *count;
  }
  head.resize(done);
  return head;
}

Status ZipArchive::check_size(std::size_t member, std::uint64_t limit) const {
  const Member& claims = members_[member];
  if (claims.size > limit) {
    return Error{ErrorCode::kLimit, kNoOffset, "zip: member claims to be too large"};
  }
  if (grows_too_much(claims.size, claims.compressed_size)) {
    return Error{
        ErrorCode::kLimit, kNoOffset,
        "zip: member grows to more than 256 times its size; unpack it first if that is right"};
  }
  return {};
}

Result<std::vector<std::byte>> ZipArchive::read(std::size_t member, std::uint64_t limit) {
  if (const Status fits = check_size(member, limit); !fits) {
    return fits.error();
  }
  zip_file_t* file = zip_fopen_index(handle_->zip, member, 0);
  if (file == nullptr) {
    return handle_->adapter.cause(kNotUnpacked, zip_get_error(handle_->zip));
  }
  MemberSource stream(file, handle_->adapter);
  // A byte more than it claims: the checksum is looked at after the last byte.
  std::vector<std::byte> content(static_cast<std::size_t>(members_[member].size) + 1);
  std::size_t done = 0;
  while (done < content.size()) {
    const Result<std::size_t> count = stream.read(std::span(content).subspan(done));
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      break;
    }
    done += *count;
  }
  if (done != members_[member].size) {
    return kOtherSize;
  }
  content.resize(done);
  return content;
}

Result<std::unique_ptr<io::ByteSource>> ZipArchive::extract(std::size_t member,
                                                            const std::string& directory,
                                                            std::uint64_t limit) {
  const Member& claims = members_[member];
  if (const Status fits = check_size(member, limit); !fits) {
    return fits.error();
  }
  zip_file_t* file = zip_fopen_index(handle_->zip, member, 0);
  if (file == nullptr) {
    return handle_->adapter.cause(kNotUnpacked, zip_get_error(handle_->zip));
  }
  MemberSource stream(file, handle_->adapter);
  Result<std::unique_ptr<io::ByteSource>> unpacked =
      io::spool_to_temporary(stream, directory, claims.size);
  if (unpacked ? (*unpacked)->size() != claims.size : unpacked.error().code == ErrorCode::kLimit) {
    return kOtherSize;
  }
  return unpacked;
}

}  // namespace stackpack::codec
