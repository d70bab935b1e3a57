#include "app/unwind/image_store.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "io/byte_source.h"
#include "io/memory_file.h"
#include "unwind/call_site.h"
#include "unwind/elf_layout.h"

namespace stackpack::app {

using symbolize::SearchEnd;

bool is_no_file(std::string_view path) {
  return !path.starts_with('/') || path.starts_with("//") || path.starts_with("/dev/") ||
         path.starts_with("/memfd:") || path.starts_with("/SYSV");
}

FoundImages count_found_images(std::span<const Module> modules,
                               const symbolize::SymbolPlaces& places) {
  std::vector<Module> files;
  std::copy_if(modules.begin(), modules.end(), std::back_inserter(files), [](const Module& module) {
    return module.pid != kKernelPid && !is_no_file(module.path);
  });
  const ImageStore store(files, {});
  FoundImages count;
  for (const ImageStore::Image& image : store.images()) {
    ++count.all;
    const symbolize::FoundFiles found =
        symbolize::find_elf_files({image.path, image.build_id, image.mappings}, places);
    count.found += found.end == SearchEnd::kFound ? 1 : 0;
  }
  return count;
}

ImageStore::ImageStore(std::span<const Module> modules, symbolize::SymbolPlaces places)
    : places_(std::move(places)) {
  std::map<std::pair<std::string_view, std::vector<std::uint8_t>>, std::uint32_t> numbers;
  image_of_.reserve(modules.size());
  for (const Module& module : modules) {
    std::vector<std::uint8_t> build_id;
    if (module.build_id_kind == BuildIdKind::kGnu) {
      build_id = module.build_id;
    }
    const auto [entry, fresh] =
        numbers.try_emplace({module.path, build_id}, static_cast<std::uint32_t>(images_.size()));
    if (fresh) {
      Image& image = images_.emplace_back();
      image.path = module.path;
      image.build_id = std::move(build_id);
    }
    image_of_.push_back(entry->second);
    images_[entry->second].mappings.push_back(symbolize::mapping_of(module));
  }
}

namespace {

// A debug file's own headers do not say where the code is in the image.
void place_code(unwind::ElfLayout& layout, const symbolize::ElfIdentity& placed) {
  layout.code.clear();
  for (const symbolize::ElfSegment& segment : placed.segments) {
    if (segment.executable) {
      layout.code.push_back({segment.offset, segment.address, segment.memory_bytes});
    }
  }
}

}  // namespace

void ImageStore::load_files(Image& image, symbolize::FoundFiles& found) {
  const bool has_image = static_cast<bool>(found.image);
  const io::Descriptor& main = has_image ? found.image : found.debug;
  const auto file = io::source_of_descriptor(main.get());
  Result<unwind::ElfLayout> layout = unwind::read_elf_layout(*file);
  if (!layout) {
    image.state = State::kNotElf;
    return;
  }
  if (!has_image) {
    place_code(*layout, found.layout);
  }
  unwind::LoadedSection debug_frame;
  if (has_image && found.debug) {
    const auto debug = io::source_of_descriptor(found.debug.get());
    if (Result<unwind::ElfLayout> other = unwind::read_elf_layout(*debug)) {
      debug_frame = std::move(other->debug_frame);
    }
  }
  image.left_out = layout->left_out;
  image.tables =
      std::make_unique<unwind::CodeTables>(std::move(*layout), std::move(debug_frame), image.steps);
  image.state = State::kReady;
}

void ImageStore::load(Image& image) {
  const bool is_vdso = image.path == "[vdso]";
  if (is_vdso && image.build_id.empty() && places_.has_root) {
    // What the user believes of paths goes for what the kernel maps, too.
    if (Result<io::Descriptor> running = io::open_running_vdso()) {
      symbolize::FoundFiles found;
      found.image = std::move(*running);
      load_files(image, found);
      return;
    }
  }
  if (is_no_file(image.path) && !is_vdso) {
    image.state = State::kNoCode;
    return;
  }
  symbolize::FoundFiles found =
      symbolize::find_elf_files({image.path, image.build_id, image.mappings}, places_);
  image.search = found.end;
  if (found.end == SearchEnd::kFound) {
    load_files(image, found);
  } else {
    image.state = found.end == SearchEnd::kNotElf ? State::kNotElf : State::kMissing;
  }
}

bool ImageStore::follows_call(std::uint32_t number, std::uint64_t offset, unwind::Machine machine) {
  const Image& image = images_[number];
  if (image.state != State::kReady) {
    return false;
  }
  if (calls_.size() == kMostCalls) {
    calls_.clear();
  }
  const auto [known, fresh] = calls_.try_emplace({number, offset}, false);
  if (fresh) {
    // Its file was closed when its tables were read: this is asked for once in a thousand walks.
    const symbolize::FoundFiles found =
        symbolize::find_elf_files({image.path, image.build_id, image.mappings}, places_);
    std::array<std::byte, unwind::kMostCallBytes> code{};
    if (found.end == SearchEnd::kFound && found.image && offset >= code.size()) {
      const auto file = io::source_of_descriptor(found.image.get());
      known->second =
          io::read_exactly_at(*file, offset - code.size(), code, "elf: no code").has_value() &&
          unwind::ends_with_call(machine, code);
    }
  }
  return known->second;
}

void ImageStore::evict(const Image& except) {
  while (bytes_ > kMostBytes) {
    Image* oldest = nullptr;
    for (Image& image : images_) {
      if (image.tables != nullptr && &image != &except &&
          (oldest == nullptr || image.used_at < oldest->used_at)) {
        oldest = &image;
      }
    }
    if (oldest == nullptr) {
      return;
    }
    bytes_ -= oldest->tables->memory_bytes();
    oldest->steps = oldest->tables->steps_left();
    oldest->tables.reset();
    oldest->state = State::kUnopened;
  }
}

ImageStore::Image& ImageStore::open(std::uint32_t number) {
  Image& image = images_[number];
  image.used_at = ++clock_;
  if (image.state == State::kUnopened) {
    load(image);
    if (image.tables != nullptr) {
      bytes_ += image.tables->memory_bytes();
      evict(image);
    }
  }
  return image;
}

}  // namespace stackpack::app
