#include "symbolize/symbol_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "bytes/byte_text.h"
#include "io/byte_source.h"
#include "io/memory_file.h"
#include "io/system_file.h"
#include "io/this_machine.h"
#include "symbolize/packed_module.h"

namespace stackpack::symbolize {

namespace {

constexpr std::string_view kDebugFolder = "/usr/lib/debug";

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// `root` and a path that is meant inside of it.
struct Candidate {
  std::string root;
  std::string path;

  [[nodiscard]] std::string text() const { return root + path; }
};

struct OpenElf {
  io::Descriptor file;
  ElfIdentity elf;
  std::uint64_t bytes = 0;
  Candidate at;
  bool same_inode = false;
  bool other_device = false;
};

bool equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class Search {
 public:
  Search(const ImageKey& key, const SymbolPlaces& places) : key_(key), places_(places) {}

  FoundFiles run() {
    OpenElf image = find_image();
    OpenElf debug = find_debug(image);
    OpenElf& missing = image.file ? debug : image;
    if (!missing.file && !is_whole(image)) {
      missing = find_in_bundles(image.file ? image.elf.build_id : key_.build_id);
    }
    FoundFiles found;
    if (!image.file && !debug.file && packed_.file) {
      image = std::move(packed_);
      found.packed = true;
    }
    found.end = image.file || debug.file ? SearchEnd::kFound : end_;
    const OpenElf& links = debug.file ? debug : image;
    OpenElf alternate = find_alternate(links);
    found.has_split = image.elf.has_split || debug.elf.has_split;
    OpenElf package = found.has_split ? find_package(image, debug) : OpenElf();
    found.by_path = image.file && key_.build_id.empty() && !places_.has_root;
    found.same_inode = image.same_inode;
    found.other_device = image.other_device;
    found.bytes = image.bytes + debug.bytes + alternate.bytes + package.bytes;
    found.layout = image.file ? std::move(image.elf) : std::move(debug.elf);
    found.image = std::move(image.file);
    found.debug = std::move(debug.file);
    found.alternate = std::move(alternate.file);
    found.package = std::move(package.file);
    found.image_path = image.at.text();
    found.debug_path = debug.at.text();
    decide_end(found);
    return found;
  }

 private:
  // A reason that says more replaces one that says less.
  void note(SearchEnd end) {
    if (end_ == SearchEnd::kNoFile || end == SearchEnd::kOtherBuildId) {
      end_ = end;
    }
  }

  OpenElf open(const Candidate& candidate) {
    OpenElf opened;
    Result<io::RootedFile> file = io::open_rooted_file(candidate.root, candidate.path);
    if (!file) {
      const int number = file.error().os_error;
      if (file.error().code == ErrorCode::kUnsupported) {
        note(SearchEnd::kNotAFile);
      } else if (number == EMFILE || number == ENFILE || number == ENOMEM) {
        shortage_ = number;
      }
      return opened;
    }
    return identified(std::move(file->descriptor), candidate);
  }

  OpenElf identified(io::Descriptor file, const Candidate& candidate) {
    OpenElf opened;
    const auto source = io::source_of_descriptor(file.get());
    Result<ElfIdentity> elf = read_elf_identity(*source);
    if (!elf) {
      note(SearchEnd::kNotElf);
      if (!packed_.file && is_module_file(candidate.path) && is_packed_file(file.get())) {
        packed_ = {std::move(file), {}, source->size().value_or(0), candidate};
      }
      return opened;
    }
    opened.bytes = source->size().value_or(0);
    opened.file = std::move(file);
    opened.elf = std::move(*elf);
    opened.at = candidate;
    return opened;
  }

  // What the kernel maps into processes has a build id and no file.
  OpenElf open_vdso() {
    Result<io::Descriptor> file = io::open_running_vdso();
    if (!file) {
      return {};
    }
    OpenElf opened = identified(std::move(*file), {"", std::string(key_.path)});
    const bool good = opened.file && (key_.build_id.empty() || only_if_same(opened, key_.build_id));
    return good ? std::move(opened) : OpenElf();
  }

  // Whether it has the build id that is looked for.
  bool only_if_same(const OpenElf& opened, std::span<const std::uint8_t> build_id) {
    const bool same = equal(opened.elf.build_id, build_id);
    if (!same) {
      note(SearchEnd::kOtherBuildId);
    }
    return same;
  }

  // Opens what may be the image or its debug file: with the build id that is looked for.
  OpenElf open_if_same(const Candidate& candidate, std::span<const std::uint8_t> build_id) {
    OpenElf opened = open(candidate);
    return opened.file && only_if_same(opened, build_id) ? std::move(opened) : OpenElf();
  }

  // Opens a file whose build id was not recorded, if nothing speaks against it.
  OpenElf open_if_unchanged(const Candidate& candidate) {
    OpenElf opened = open(candidate);
    if (!opened.file) {
      note(SearchEnd::kNoFile);
      return {};
    }
    const std::optional<io::FileOnDisk> there = io::file_on_disk(opened.file.get());
    if (!there || !is_file_of_mappings(there->file, opened)) {
      note(SearchEnd::kOtherFile);
      return {};
    }
    if (there->changed_ns > *places_.unchanged_since_ns ||
        !has_code_where_mapped(opened.elf, key_.mappings)) {
      note(SearchEnd::kChanged);
      return {};
    }
    return opened;
  }

  // Whether no mapping is of another file. File systems in layers, and btrfs, show other devices
  // than the kernel records.
  bool is_file_of_mappings(const MappedFile& there, OpenElf& opened) const {
    for (const ImageMapping& mapping : key_.mappings) {
      const MappedFile& mapped = mapping.file;
      if (mapped.inode == 0) {
        continue;
      }
      const bool other_generation =
          mapped.generation != 0 && there.generation != 0 && mapped.generation != there.generation;
      if (mapped.inode != there.inode || other_generation) {
        return false;
      }
      opened.same_inode = true;
      opened.other_device |=
          mapped.device_major != there.device_major || mapped.device_minor != there.device_minor;
    }
    return true;
  }

  // What a process sees as its root is another one in a container.
  void add_in_containers(std::vector<Candidate>& candidates) const {
    constexpr std::size_t kMostProcesses = 4;
    if (!places_.in_containers) {
      return;
    }
    std::vector<std::uint32_t> pids;
    for (const ImageMapping& mapping : key_.mappings) {
      if (pids.size() < kMostProcesses && mapping.pid != kKernelPid &&
          std::find(pids.begin(), pids.end(), mapping.pid) == pids.end()) {
        pids.push_back(mapping.pid);
        candidates.push_back(
            {"/proc/" + std::to_string(mapping.pid) + "/root", std::string(key_.path)});
      }
    }
  }

  // The files of a layout by build id, below a folder that the user named or the system has.
  static void add_by_build_id(const Candidate& folder, std::string_view id, bool debug,
                              std::vector<Candidate>& candidates) {
    constexpr std::size_t kFirst = 2;
    const std::string base = folder.path + "/.build-id/" + std::string(id.substr(0, kFirst)) + "/" +
                             std::string(id.substr(kFirst));
    if (debug) {
      candidates.push_back({folder.root, base + ".debug"});
      candidates.push_back({folder.root, base + "/debug"});
    } else {
      candidates.push_back({folder.root, base});
      candidates.push_back({folder.root, base + "/elf"});
    }
    if (!debug) {
      candidates.push_back({folder.root, base + "/vdso"});
    }
    candidates.push_back({folder.root, folder.path + "/" + std::string(id) +
                                           (debug ? "/debuginfo" : "/executable")});
  }

  void add_user_files(std::vector<Candidate>& candidates) const {
    for (const std::string& file : places_.files) {
      candidates.push_back({"", file});
    }
  }

  // Debug files that lie as the images do.
  static void add_by_path(const std::string& root, const std::string& path,
                          std::vector<Candidate>& candidates) {
    if (path.starts_with('/')) {
      candidates.push_back({root, std::string(kDebugFolder) + path + ".debug"});
      candidates.push_back({root, std::string(kDebugFolder) + path});
    }
  }

  // What else there is to say of what was found.
  void decide_end(FoundFiles& found) {
    if (shortage_ != 0) {  // what was found may not be all there is
      found.end = SearchEnd::kShortage;
      found.shortage = {ErrorCode::kResource, kNoOffset, "cannot open files of images", shortage_};
    }
    if (found.end == SearchEnd::kFound && !found.packed && !found.layout.has_image_offsets &&
        !place_segments(found.layout, key_.mappings)) {
      found.end = SearchEnd::kNotPlaced;
    }
  }

  OpenElf find_image() {
    if (key_.path == "[vdso]" && (!key_.build_id.empty() || places_.of_this_kernel)) {
      if (OpenElf opened = open_vdso(); opened.file) {
        return opened;
      }
    }
    const std::vector<Candidate> candidates = candidates_of_image();
    if (key_.build_id.empty() && !places_.has_root && !places_.unchanged_since_ns) {
      note(SearchEnd::kNoBuildId);
      return {};
    }
    for (const Candidate& candidate : candidates) {
      OpenElf opened = !key_.build_id.empty() ? open_if_same(candidate, key_.build_id)
                       : places_.has_root     ? open(candidate)
                                              : open_if_unchanged(candidate);
      // A file of debug sections alone is not the image.
      if (opened.file && opened.elf.has_code) {
        return opened;
      }
    }
    return {};
  }

  // Where the image may lie, the likeliest first.
  std::vector<Candidate> candidates_of_image() {
    std::vector<Candidate> candidates;
    const std::string id = build_id_text(key_.build_id);
    if (id.size() > 2) {
      add_user_files(candidates);
      for (const std::string& directory : places_.directories) {
        add_by_build_id({"", directory}, id, false, candidates);
      }
    }
    const bool has_path = key_.path.starts_with('/');
    if (has_path && !key_.build_id.empty()) {
      for (const std::string& directory : places_.directories) {
        candidates.push_back({directory, std::string(key_.path)});
        candidates.push_back({"", directory + "/" + std::string(name_of(key_.path))});
      }
    }
    if (has_path) {
      candidates.push_back({places_.root, std::string(key_.path)});
      add_in_containers(candidates);
    }
    if (const auto plain = without_packing(key_.path); has_path && plain != key_.path) {
      candidates.push_back({places_.root, std::string(plain)});
    }
    return candidates;
  }

  // Whether nothing was stripped from an image.
  static bool is_whole(const OpenElf& image) {
    return image.file && image.elf.has_dwarf && image.elf.has_symbols;
  }

  OpenElf find_debug(const OpenElf& image) {
    const std::span<const std::uint8_t> id =
        image.file ? std::span<const std::uint8_t>(image.elf.build_id) : key_.build_id;
    if (is_whole(image)) {
      return {};
    }
    if (const std::string text = build_id_text(id); text.size() > 2) {
      std::vector<Candidate> candidates;
      add_user_files(candidates);
      for (const std::string& directory : places_.directories) {
        add_by_build_id({"", directory}, text, true, candidates);
        add_by_build_id({directory, std::string(kDebugFolder)}, text, true, candidates);
      }
      add_by_build_id({places_.root, std::string(kDebugFolder)}, text, true, candidates);
      const std::string path(without_packing(key_.path));
      for (const std::string& directory : places_.directories) {
        add_by_path(directory, path, candidates);
        const std::string name = directory + "/" + std::string(name_of(path));
        candidates.push_back({"", name + ".debug"});
        candidates.push_back({"", name});
      }
      add_by_path(places_.root, path, candidates);
      for (const Candidate& candidate : candidates) {
        if (OpenElf opened = open_if_same(candidate, id);
            opened.file && (opened.elf.has_dwarf || opened.elf.has_symbols)) {
          return opened;
        }
      }
    }
    return image.file ? find_by_link(image) : OpenElf();
  }

  OpenElf find_in_bundles(std::span<const std::uint8_t> id) {
    for (const std::shared_ptr<SymbolBundle>& bundle : places_.bundles) {
      const std::uint64_t refused = bundle->refused();
      if (io::Descriptor file = bundle->find(id); file) {
        return identified(std::move(file), {bundle->path() + ":", bundle_entry_name(id)});
      }
      if (bundle->refused() != refused) {
        note(SearchEnd::kOtherBuildId);
      }
    }
    return {};
  }

  OpenElf find_by_link(const OpenElf& image) {
    const std::string& link = image.elf.debug_link;
    if (link.empty() || link.find('/') != std::string::npos) {
      return {};
    }
    const std::string folder(folder_of(key_.path));
    std::vector<Candidate> candidates;
    for (const std::string& directory : places_.directories) {
      std::string path = directory;
      path += '/';
      path += link;
      candidates.push_back({"", std::move(path)});
    }
    const std::string beside(folder_of(image.at.path));
    candidates.push_back({image.at.root, beside + "/" + link});
    candidates.push_back({image.at.root, beside + "/.debug/" + link});
    if (key_.path.starts_with('/')) {
      candidates.push_back({places_.root, folder + "/" + link});
      candidates.push_back({places_.root, folder + "/.debug/" + link});
      candidates.push_back({places_.root, std::string(kDebugFolder) + folder + "/" + link});
    }
    for (const Candidate& candidate : candidates) {
      OpenElf opened = open(candidate);
      if (!opened.file || (!opened.elf.has_dwarf && !opened.elf.has_symbols)) {
        continue;
      }
      const auto source = io::source_of_descriptor(opened.file.get());
      const Result<std::uint32_t> crc = debug_link_crc(*source);
      if (crc && *crc == image.elf.debug_link_crc) {
        return opened;
      }
      note(SearchEnd::kOtherBuildId);
    }
    return {};
  }

  OpenElf find_alternate(const OpenElf& from) {
    const ElfIdentity& elf = from.elf;
    if (!from.file || elf.alternate_link.empty() || elf.alternate_build_id.size() < 2) {
      return {};
    }
    std::vector<Candidate> candidates;
    const std::string text = build_id_text(elf.alternate_build_id);
    for (const std::string& directory : places_.directories) {
      add_by_build_id({"", directory}, text, true, candidates);
      add_by_build_id({directory, std::string(kDebugFolder)}, text, true, candidates);
      candidates.push_back({"", directory + "/" + std::string(name_of(elf.alternate_link))});
      if (elf.alternate_link.starts_with('/')) {
        candidates.push_back({directory, elf.alternate_link});
      }
      if (elf.alternate_link.starts_with(kDebugFolder)) {
        candidates.push_back({"", directory + elf.alternate_link.substr(kDebugFolder.size())});
      }
    }
    add_by_build_id({places_.root, std::string(kDebugFolder)}, text, true, candidates);
    candidates.push_back(elf.alternate_link.starts_with('/')
                             ? Candidate{places_.root, elf.alternate_link}
                             : Candidate{from.at.root, std::string(folder_of(from.at.path)) + "/" +
                                                           elf.alternate_link});
    for (const Candidate& candidate : candidates) {
      if (OpenElf opened = open_if_same(candidate, elf.alternate_build_id); opened.file) {
        return opened;
      }
    }
    return {};
  }

  // The .dwp file of a program. It has no build id: its units have ids of their own.
  OpenElf find_package(const OpenElf& image, const OpenElf& debug) {
    std::vector<Candidate> candidates;
    for (const OpenElf* const beside : {&debug, &image}) {
      if (beside->file) {
        candidates.push_back({beside->at.root, beside->at.path + ".dwp"});
      }
    }
    const std::string name = std::string(name_of(key_.path)) + ".dwp";
    for (const std::string& directory : places_.directories) {
      candidates.push_back({directory, std::string(key_.path) + ".dwp"});
      std::string beside = directory;
      beside.append("/").append(name);
      candidates.push_back({"", std::move(beside)});
    }
    if (key_.path.starts_with('/')) {
      candidates.push_back({places_.root, std::string(key_.path) + ".dwp"});
    }
    for (const Candidate& candidate : candidates) {
      if (OpenElf opened = open(candidate); opened.file) {
        return opened;
      }
    }
    return {};
  }

  const ImageKey& key_;
  const SymbolPlaces& places_;
  SearchEnd end_ = SearchEnd::kNoFile;
  int shortage_ = 0;  // errno of an opening that failed for want of descriptors or memory
  OpenElf packed_;    // a file that could not be looked into
};

bool is_elf_file(const std::string& path) {
  const Result<io::RootedFile> file = io::open_rooted_file("", path);
  std::array<std::byte, 4> head{};
  constexpr std::array kMagic{std::byte{0x7F}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  return file &&
         io::read_exactly_at(*io::source_of_descriptor(file->descriptor.get()), 0, head,
                             "elf: no header") &&
         head == kMagic;
}

}  // namespace

FoundFiles find_kernel_file(const SymbolPlaces& places) {
  constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 63;
  FoundFiles found;
  for (const std::string& path : places.files) {
    Result<io::RootedFile> file = io::open_rooted_file("", path);
    if (!file) {
      continue;
    }
    Result<ElfIdentity> elf = read_elf_identity(*io::source_of_descriptor(file->descriptor.get()));
    if (elf &&
        std::any_of(elf->segments.begin(), elf->segments.end(), [](const ElfSegment& segment) {
          return segment.executable && segment.address >= kUpperHalf;
        })) {
      found.end = SearchEnd::kFound;
      found.bytes = file->bytes;
      found.layout = std::move(*elf);
      found.image = std::move(file->descriptor);
      found.image_path = path;
      return found;
    }
  }
  return found;
}

std::string build_id_text(std::span<const std::uint8_t> id) {
  std::string text;
  for (const std::uint8_t byte : id) {
    bytes::append_hex(text, byte, 2);
  }
  return text;
}

Status open_bundles(SymbolPlaces& places) {
  std::vector<std::string> folders;
  for (std::string& directory : places.directories) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(directory, failed)) {
      folders.push_back(std::move(directory));
      continue;
    }
    if (is_elf_file(directory)) {
      places.files.push_back(std::move(directory));
      continue;
    }
    Result<std::shared_ptr<SymbolBundle>> bundle = SymbolBundle::open(directory);
    if (!bundle) {
      return bundle.error();
    }
    places.bundles.push_back(std::move(*bundle));
  }
  places.directories = std::move(folders);
  return {};
}

std::uint64_t refused_entries(const SymbolPlaces& places) {
  std::uint64_t refused = 0;
  for (const std::shared_ptr<SymbolBundle>& bundle : places.bundles) {
    refused += bundle->refused();
  }
  return refused;
}

std::string_view reason_of(SearchEnd end, std::string_view no_build_id) {
  switch (end) {
    case SearchEnd::kFound:
      return "";
    case SearchEnd::kNoFile:
      return "no file";
    case SearchEnd::kOtherBuildId:
      return "the file there is of another build";
    case SearchEnd::kNoBuildId:
      return no_build_id;
    case SearchEnd::kOtherFile:
      return "the capture has no build id of it, and another file is there now: its inode is not "
             "the recorded one";
    case SearchEnd::kChanged:
      return "the capture has no build id of it, and the file there was changed since or has no "
             "code where it was mapped";
    case SearchEnd::kNotElf:
      return "not an ELF file";
    case SearchEnd::kNotAFile:
      return "not a regular file";
    case SearchEnd::kShortage:
      return "too many open files, or no memory";
    case SearchEnd::kNotPlaced:
      return "only its debug file is here, and its mappings do not say where in the image that "
             "code is; the image or a bundle of it does";
  }
  return "no file";
}

FoundFiles find_elf_files(const ImageKey& key, const SymbolPlaces& places) {
  return Search(key, places).run();
}

}  // namespace stackpack::symbolize
