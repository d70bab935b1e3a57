#include "io/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/files_read.h"
#include "io/system_file.h"

namespace stackpack::io {

namespace {

Error system_error(std::string_view what) {
  return {ErrorCode::kIo, kNoOffset, what, errno};
}

class DescriptorSource final : public ByteSource {
 public:
  /// `owned`: closed at the end; without one the descriptor stays the caller's.
  DescriptorSource(Descriptor owned, int descriptor, bool seekable, const FileStatus& file)
      : owned_(std::move(owned)), descriptor_(descriptor), seekable_(seekable), file_(file) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    FilesRead::note(file_);
    if (seekable_) {
      const Result<std::size_t> count = read_at(position_, into);
      if (count.has_value()) {
        position_ += count.value();
      }
      return count;
    }
    const std::int64_t count = read_some(descriptor_, into);
    if (count < 0) {
      return system_error("read failed");
    }
    return static_cast<std::size_t>(count);
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    if (!seekable_) {
      return Error{ErrorCode::kUnsupported, offset, "input cannot be read at an offset"};
    }
    FilesRead::note(file_);  // it may have been opened before this run
    std::size_t done = 0;
    while (done < into.size()) {
      const std::int64_t count = read_some_at(descriptor_, offset + done, into.subspan(done));
      if (count < 0) {
        return system_error("read failed");
      }
      if (count == 0) {
        break;
      }
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  [[nodiscard]] bool seekable() const override { return seekable_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    return seekable_ ? std::optional(file_.bytes) : std::nullopt;
  }

 private:
  Descriptor owned_;
  int descriptor_;
  bool seekable_;
  FileStatus file_;
  std::uint64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    const Result<std::size_t> count = read_at(position_, into);
    position_ += count.value();
    return count;
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset >= bytes_.size() || into.empty()) {
      return std::size_t{0};
    }
    const std::size_t count =
        std::min(into.size(), bytes_.size() - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), bytes_.data() + offset, count);
    return count;
  }

  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

class HeadedSource final : public ByteSource {
 public:
  HeadedSource(std::vector<std::byte> head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    if (position_ == head_.size()) {
      return rest_->read(into);
    }
    const std::size_t count = std::min(into.size(), head_.size() - position_);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(position_), count, into.begin());
    position_ += count;
    return count;
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "input cannot be read at an offset"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  std::vector<std::byte> head_;
  std::size_t position_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

Result<std::unique_ptr<DescriptorSource>> open_path(const std::string& path, Fifo fifo) {
  Descriptor file = open_to_read(path, fifo);
  if (!file) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kIo, kNoOffset, "cannot open", errno};
  }
  FileStatus status;
  if (!look_at(file.get(), status)) {
    return system_error("cannot stat");
  }
  if (status.kind == FileKind::kDirectory) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "is a directory", EISDIR};
  }
  FilesRead::note(status);
  const int descriptor = file.get();
  return std::make_unique<DescriptorSource>(std::move(file), descriptor,
                                            status.kind == FileKind::kRegular, status);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  Result<std::unique_ptr<DescriptorSource>> opened = open_path(path, Fifo::kWait);
  return opened ? Result<std::unique_ptr<ByteSource>>(std::move(*opened)) : opened.error();
}

Result<std::unique_ptr<ByteSource>> open_regular_file(const std::string& path) {
  Result<std::unique_ptr<DescriptorSource>> opened = open_path(path, Fifo::kGoOn);
  if (!opened) {
    return opened.error();
  }
  if (!(*opened)->seekable()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "is not a file"};
  }
  return std::unique_ptr<ByteSource>(std::move(*opened));
}

std::unique_ptr<ByteSource> source_of_descriptor(int descriptor) {
  FileStatus status;
  const bool seekable =
      look_at(descriptor, status) && status.kind == FileKind::kRegular && is_at_start(descriptor);
  FilesRead::note(status);
  return std::make_unique<DescriptorSource>(Descriptor(), descriptor, seekable, status);
}

std::unique_ptr<ByteSource> source_of_standard_input() {
  return source_of_descriptor(kInputDescriptor);
}

std::unique_ptr<ByteSource> source_with_head(std::vector<std::byte> head,
                                             std::unique_ptr<ByteSource> rest) {
  return std::make_unique<HeadedSource>(std::move(head), std::move(rest));
}

std::unique_ptr<ByteSource> source_of_memory(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Result<std::unique_ptr<ByteSource>> spool_to_temporary(ByteSource& source,
                                                       const std::string& directory,
                                                       std::uint64_t limit) {
  Descriptor file = open_nameless(directory);
  if (!file) {
    return system_error("cannot create a temporary file");
  }
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  const auto room = std::make_unique_for_overwrite<std::byte[]>(kChunk);
  const std::span<std::byte> chunk(room.get(), kChunk);
  std::uint64_t size = 0;
  while (true) {
    const Result<std::size_t> count = source.read(chunk);
    if (!count) {
      return count.error();
    }
    if (*count == 0) {
      break;
    }
    if (*count > limit - size) {
      return Error{ErrorCode::kLimit, size, "input is larger than the limit for spooling"};
    }
    if (!write_all(file.get(), chunk.first(*count))) {
      return system_error("cannot write to the temporary file");
    }
    size += *count;
  }
  const int descriptor = file.get();
  FileStatus status;
  status.bytes = size;  // it has no name: nobody can mean it
  return std::unique_ptr<ByteSource>(
      std::make_unique<DescriptorSource>(std::move(file), descriptor, true, status));
}

Status read_exactly_at(ByteSource& source, std::uint64_t offset, std::span<std::byte> into,
                       std::string_view what) {
  const Result<std::size_t> count = source.read_at(offset, into);
  if (!count) {
    return count.error();
  }
  if (*count != into.size()) {
    return Error{ErrorCode::kTruncated, offset + *count, what};
  }
  return {};
}

}  // namespace stackpack::io
