#include "app/analysis/image_packages.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "io/byte_source.h"
#include "io/utf8_path.h"

namespace stackpack::app {

namespace {

constexpr std::uint64_t kMostListBytes = std::uint64_t{64} << 20;
constexpr std::string_view kMerged = "/usr";

std::string lists_of_dpkg() {
  const char* const set = std::getenv("DPKG_ADMINDIR");  // NOLINT(concurrency-mt-unsafe)
  return (set == nullptr || *set == '\0' ? std::string("/var/lib/dpkg") : std::string(set)) +
         "/info";
}

// What a path below these folders says itself.
std::string package_in_path(std::string_view path) {
  constexpr std::string_view kSnap = "/snap/";
  constexpr std::size_t kHash = 33;  // of a store: 32 letters and a dash
  if (path.starts_with(kSnap)) {
    const std::string_view rest = path.substr(kSnap.size());
    return std::string(rest.substr(0, rest.find('/'))) + " (snap)";
  }
  for (const auto& [store, name] :
       {std::pair<std::string_view, std::string_view>{"/nix/store/", " (nix)"},
        {"/gnu/store/", " (guix)"}}) {
    if (path.starts_with(store) && path.size() > store.size() + kHash) {
      const std::string_view rest = path.substr(store.size() + kHash);
      return std::string(rest.substr(0, rest.find('/'))) + std::string(name);
    }
  }
  return {};
}

}  // namespace

ImagePackages::ImagePackages(std::span<const Module> modules) {
  for (const Module& module : modules) {
    if (module.path.starts_with('/')) {
      packages_.try_emplace(module.path, package_in_path(module.path));
    }
  }
  std::vector<std::pair<std::string, std::string>> lists;  // package, path: the order of packages
  std::error_code failed;
  const std::filesystem::directory_iterator folder(io::path_of(lists_of_dpkg()), failed);
  for (auto at = begin(folder); !failed && at != end(folder); at.increment(failed)) {
    if (at->path().extension() == ".list") {
      const std::string name = at->path().stem().string();
      lists.emplace_back(name.substr(0, name.find(':')), at->path().string());
    }
  }
  std::sort(lists.begin(), lists.end());
  for (const auto& [package, path] : lists) {
    read_list(path, package);
  }
}

void ImagePackages::read_list(const std::string& path, const std::string& package) {
  const Result<std::unique_ptr<io::ByteSource>> list = io::open_regular_file(path);
  const std::uint64_t size = list ? (*list)->size().value_or(0) : 0;
  if (size == 0 || size > kMostListBytes) {
    return;
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!io::read_exactly_at(**list, 0, std::as_writable_bytes(std::span(text)), "list of dpkg")) {
    return;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view file = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    // Where /lib is /usr/lib, a package may list either.
    std::string merged(kMerged);
    merged += file;
    for (const std::string_view form : {file, std::string_view(merged)}) {
      if (const auto known = packages_.find(form);
          known != packages_.end() && known->second.empty()) {
        known->second = package;
      }
    }
  }
}

std::string_view ImagePackages::of(const Module& module) const {
  const auto known = packages_.find(module.path);
  return known == packages_.end() ? std::string_view() : std::string_view(known->second);
}

}  // namespace stackpack::app
