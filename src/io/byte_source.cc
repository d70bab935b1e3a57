#include "io/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output_file.h"

namespace stackpack::io {

namespace {

Error system_error(std::string_view what) {
  return {ErrorCode::kIo, kNoOffset, what, errno};
}

class DescriptorSource final : public ByteSource {
 public:
  DescriptorSource(int descriptor, bool owned, bool seekable, std::uint64_t size)
      : descriptor_(descriptor), owned_(owned), seekable_(seekable), size_(size) {}
  DescriptorSource(const DescriptorSource&) = delete;
  DescriptorSource& operator=(const DescriptorSource&) = delete;
  ~DescriptorSource() override {
    if (owned_) {
      ::close(descriptor_);
    }
  }

  Result<std::size_t> read(std::span<std::byte> into) override {
    if (seekable_) {
      const Result<std::size_t> count = read_at(position_, into);
      if (count.has_value()) {
        position_ += count.value();
      }
      return count;
    }
    while (true) {
      const ssize_t count = ::read(descriptor_, into.data(), into.size());
      if (count >= 0) {
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR) {
        return system_error("read failed");
      }
    }
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    if (!seekable_) {
      return Error{ErrorCode::kUnsupported, offset, "input cannot be read at an offset"};
    }
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count = ::pread(descriptor_, into.data() + done, into.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count == 0) {
        break;
      }
      if (count > 0) {
        done += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        return system_error("read failed");
      }
    }
    return done;
  }

  [[nodiscard]] bool seekable() const override { return seekable_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    return seekable_ ? std::optional(size_) : std::nullopt;
  }

 private:
  int descriptor_;
  bool owned_;
  bool seekable_;
  std::uint64_t size_;
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

Result<std::unique_ptr<DescriptorSource>> open_path(const std::string& path, int more_flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | more_flags);
  if (descriptor < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kIo, kNoOffset, "cannot open", errno};
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const Error error = system_error("cannot stat");
    ::close(descriptor);
    return error;
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    return Error{ErrorCode::kUnsupported, kNoOffset, "is a directory", EISDIR};
  }
  return std::make_unique<DescriptorSource>(descriptor, true, S_ISREG(status.st_mode),
                                            static_cast<std::uint64_t>(status.st_size));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  Result<std::unique_ptr<DescriptorSource>> opened = open_path(path, 0);
  return opened ? Result<std::unique_ptr<ByteSource>>(std::move(*opened)) : opened.error();
}

Result<std::unique_ptr<ByteSource>> open_regular_file(const std::string& path) {
  Result<std::unique_ptr<DescriptorSource>> opened = open_path(path, O_NONBLOCK);
  if (!opened) {
    return opened.error();
  }
  if (!(*opened)->seekable()) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "is not a file"};
  }
  return std::unique_ptr<ByteSource>(std::move(*opened));
}

std::unique_ptr<ByteSource> source_of_descriptor(int descriptor) {
  struct stat status {};
  const bool seekable = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                        ::lseek(descriptor, 0, SEEK_CUR) == 0;
  return std::make_unique<DescriptorSource>(
      descriptor, false, seekable, seekable ? static_cast<std::uint64_t>(status.st_size) : 0);
}

std::unique_ptr<ByteSource> source_of_standard_input() {
  return source_of_descriptor(STDIN_FILENO);
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
  const Result<int> descriptor = open_nameless_file(directory);
  if (!descriptor) {
    return descriptor.error();
  }
  std::vector<std::byte> chunk(std::size_t{1} << 20);
  std::uint64_t size = 0;
  auto spooled = std::make_unique<DescriptorSource>(*descriptor, true, true, 0);
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
    for (std::size_t done = 0; done < *count;) {
      const ssize_t written = ::write(*descriptor, chunk.data() + done, *count - done);
      if (written >= 0) {
        done += static_cast<std::size_t>(written);
      } else if (errno != EINTR) {
        return system_error("cannot write to the temporary file");
      }
    }
    size += *count;
  }
  const int duplicate = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) {
    return system_error("cannot duplicate a descriptor");
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<DescriptorSource>(duplicate, true, true, size));
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
