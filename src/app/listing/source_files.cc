#include "app/listing/source_files.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "io/byte_source.h"
#include "io/system_file.h"

namespace stackpack::app {

namespace {

std::vector<std::string> lines_of_text(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::optional<std::vector<std::string>> read_lines(io::ByteSource& source) {
  const std::optional<std::uint64_t> size = source.size();
  if (!size || *size > SourceFiles::kMostBytes) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(*size), '\0');
  if (!io::read_exactly_at(source, 0, std::as_writable_bytes(std::span(text)), "source file")) {
    return std::nullopt;
  }
  return lines_of_text(text);
}

std::optional<std::vector<std::string>> read_lines(const std::string& path) {
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_regular_file(path);
  return source ? read_lines(**source) : std::nullopt;
}

std::optional<std::vector<std::string>> read_lines(const std::string& root,
                                                   const std::string& path) {
  const Result<io::RootedFile> file = io::open_rooted_file(root, path);
  return file ? read_lines(*io::source_of_descriptor(file->descriptor.get())) : std::nullopt;
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || (path.size() > 2 && path[1] == ':');
}

}  // namespace

const std::vector<std::string>* SourceFiles::lines_of(const std::string& recorded) {
  const auto [at, is_new] = known_.try_emplace(recorded);
  std::optional<std::vector<std::string>>& lines = at->second;
  if (is_new && is_absolute(recorded)) {
    lines = root_.empty() ? read_lines(recorded) : read_lines(root_, recorded);
  }
  for (auto folder = folders_.begin(); is_new && !lines && folder != folders_.end(); ++folder) {
    std::string_view end = recorded;
    while (!lines && !end.empty()) {
      end.remove_prefix(std::min(end.find_first_not_of("/\\"), end.size()));
      if (!end.empty() && end.find("..") == std::string_view::npos) {
        lines = read_lines(*folder + "/" + std::string(end));
      }
      const std::size_t slash = end.find_first_of("/\\");
      end.remove_prefix(slash == std::string_view::npos ? end.size() : slash);
    }
  }
  return lines ? &*lines : nullptr;
}

}  // namespace stackpack::app
