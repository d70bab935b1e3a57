#include "app/symbolize/name_outlook.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/analysis/hot_spots.h"
#include "app/symbolize/machine_sources.h"
#include "app/symbolize/read_plans.h"
#include "app/unwind/image_store.h"
#include "symbolize/symbol_files.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kMostImages = 256;
constexpr std::uint64_t kMostSamples = 50'000;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::optional<double> share_of_named_samples(const Reader& reader) {
  const Result<HotSpots> spots = hot_spots(reader, {});
  if (!spots) {
    return std::nullopt;
  }
  std::uint64_t named = 0;
  std::uint64_t all = 0;
  for (const HotSpot& row : spots->rows) {
    all += row.self;
    named += row.name.starts_with('[') && row.name.ends_with(']') ? 0 : row.self;
  }
  return all == 0 ? std::nullopt
                  : std::optional(static_cast<double>(named) / static_cast<double>(all));
}

namespace {

using FileNames = std::set<std::string, std::less<>>;

// The share of the samples that are in files of these names; nothing when there are none at all.
std::optional<double> share_in(const Reader& reader, const FileNames& files) {
  HotSpotQuery query;
  query.by = HotSpotKind::kModule;
  const Result<HotSpots> spots = hot_spots(reader, query);
  if (!spots || spots->value == 0) {
    return std::nullopt;
  }
  std::uint64_t with_file = 0;
  for (const HotSpot& row : spots->rows) {
    with_file += files.contains(file_name(row.name)) ? row.self : 0;
  }
  return static_cast<double>(with_file) / static_cast<double>(spots->value);
}

}  // namespace

NameOutlook name_outlook(const Reader& reader, const std::string& capture) {
  NameOutlook outlook;
  const auto modules = reader.modules();
  const auto metadata = reader.metadata();
  if (!modules || !metadata) {
    return outlook;
  }
  std::vector<Module> files;
  std::copy_if(
      modules->begin(), modules->end(), std::back_inserter(files),
      [](const Module& module) { return module.pid != kKernelPid && !is_no_file(module.path); });
  const ImageStore store(files, {});
  symbolize::SymbolPlaces places;
  const auto sources = look_on_this_machine(reader, *modules, *metadata, capture, places);
  if (!sources || store.images().size() > kMostImages) {
    return outlook;
  }
  FileNames found;  // names of files
  if (sources->kernel != nullptr) {
    ++outlook.images;
    if (!sources->kernel_list.path.empty() ||
        !plan_kernel_image(*sources->kernel, sources->reference, places).found.empty()) {
      ++outlook.found;
      found.insert(sources->kernel->path);
    }
  }
  for (const ImageStore::Image& image : store.images()) {
    ++outlook.images;
    if (symbolize::find_elf_files({image.path, image.build_id, image.mappings}, places).end ==
        symbolize::SearchEnd::kFound) {
      ++outlook.found;
      found.emplace(file_name(image.path));
    }
  }
  if (reader.statistics().samples.total <= kMostSamples) {
    outlook.share = share_in(reader, found);
  }
  return outlook;
}

}  // namespace stackpack::app
