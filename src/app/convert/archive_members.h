#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codec/zip_archive.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The archive that jobs of a batch unpack members of: its directory is read once for all of them.
/// Threads: any that join it.
class ArchiveOfBatch {
 public:
  ArchiveOfBatch() = default;

  /// `source`: of the file `path`. Errors: those of codec::ZipArchive.
  Result<std::unique_ptr<codec::ZipArchive>> open(io::ByteSource& source, const std::string& path);

  /// While it lives, CaptureArchive::open() of this thread asks the archive for named members.
  class Joined {
   public:
    explicit Joined(ArchiveOfBatch& archive);
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;
    ~Joined();

   private:
    ArchiveOfBatch* before_;
  };

 private:
  std::mutex mutex_;
  std::string path_;  // of the latest one
  std::optional<std::uint64_t> size_;
  std::shared_ptr<const codec::ZipArchive::Members> members_;
};

/// The captures in a zip archive: members that begin as one does for certain, and those whose name
/// says so; when there are none, those that are possibly one.
class CaptureArchive {
 public:
  /// `archive` must be seekable and outlive the object. A null pointer when it is no zip archive.
  /// `named`: the member to be unpacked; then nothing looks for captures, and names() is empty.
  /// `path`: of the archive, where several of its members are unpacked by themselves.
  /// Errors: those of codec::ZipArchive; kLimit when there are too many captures.
  static Result<std::unique_ptr<CaptureArchive>> open(io::ByteSource& archive,
                                                      const std::string& named = {},
                                                      const std::string& path = {});

  /// Names of the captures, in the archive's order.
  [[nodiscard]] std::vector<std::string> names() const;

  [[nodiscard]] std::size_t count() const { return captures_.size(); }

  /// Unpacks the capture `number` of names() into a nameless file in `directory`.
  Result<std::unique_ptr<io::ByteSource>> unpack(std::size_t number, const std::string& directory);

  /// Unpacks the member of that name, a capture or not; the only capture when `name` is empty.
  /// Only what begins as a capture does is unpacked.
  /// Errors: kUsage when the choice is open or the name is not there; kUnsupported when it is no
  ///         capture.
  Result<std::unique_ptr<io::ByteSource>> unpack_named(const std::string& name,
                                                       const std::string& directory);

 private:
  explicit CaptureArchive(std::unique_ptr<codec::ZipArchive> zip) : zip_(std::move(zip)) {}
  Result<std::unique_ptr<io::ByteSource>> unpack_member(std::size_t member,
                                                        const std::string& directory);

  std::unique_ptr<codec::ZipArchive> zip_;
  std::vector<std::size_t> captures_;  // numbers of members
};

/// Whether the name says that all captures of an archive are one recording session.
bool is_session_archive(const std::string& path);

}  // namespace stackpack::app
