#include <cerrno>
#include <filesystem>
#include <utility>

#include "io/files_read.h"
#include "io/rooted_file.h"
#include "io/system_file.h"
#include "io/utf8_path.h"

namespace stackpack::io {

namespace {

// Where `path` leads inside `root`; empty: out of it. Links are followed by the system, and what
// they lead to is looked at again.
std::string inside(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path below = path_of(path).relative_path().lexically_normal();
  if (below.empty() || *below.begin() == "..") {
    return {};
  }
  std::string base = resolved_path(root);
  const std::string full = resolved_path(text_of(path_of(base) / below));
  if (base.ends_with('\\') || base.ends_with('/')) {
    base.pop_back();  // of a drive
  }
  const bool within = full.size() > base.size() && full.starts_with(base) &&
                      std::string("/\\").find(full[base.size()]) != std::string::npos;
  return within ? full : std::string();
}

}  // namespace

Result<RootedFile> open_rooted_file(const std::string& root, const std::string& path) {
  const std::string place = root.empty() ? path : inside(root, path);
  Descriptor file = place.empty() ? Descriptor() : open_to_read(place, Fifo::kGoOn);
  FileStatus status;
  if (!file || !look_at(file.get(), status)) {
    const bool missing = place.empty() || errno == ENOENT || errno == ENOTDIR;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kIo, kNoOffset, "cannot open", errno};
  }
  if (status.kind != FileKind::kRegular) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "not a regular file"};
  }
  FilesRead::note(status);
  return RootedFile{std::move(file), status.bytes};
}

}  // namespace stackpack::io
