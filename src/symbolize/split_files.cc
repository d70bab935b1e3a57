#include "symbolize/split_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "io/byte_source.h"
#include "io/system_file.h"

namespace stackpack::symbolize {

namespace {

bool is_below(std::string_view path, const std::string& folder) {
  return !folder.empty() && path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
}

bool begins_as_elf(int descriptor) {
  constexpr std::array kMagic{std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  std::array<std::byte, kMagic.size()> head{};
  const auto source = io::source_of_descriptor(descriptor);
  return io::read_exactly_at(*source, 0, head, "elf: no head").has_value() && head == kMagic;
}

}  // namespace

std::string folder_of_file(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  constexpr std::size_t kLongestPath = 4096;
  std::string path(kLongestPath, '\0');
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  path.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

io::Descriptor open_split_file(const std::string& path, const SplitFolders& where) {
  const auto has = [&path](const std::string& folder) { return is_below(path, folder); };
  const bool leads_out = path.find("/../") != std::string::npos;
  const bool in_place = where.anywhere || (!leads_out && std::any_of(where.folders.begin(),
                                                                     where.folders.end(), has));
  if (!in_place || !path.ends_with(".dwo")) {
    return {};
  }
  Result<io::RootedFile> file = io::open_rooted_file("", path);
  return file && begins_as_elf(file->descriptor.get()) ? std::move(file->descriptor)
                                                       : io::Descriptor();
}

}  // namespace stackpack::symbolize
