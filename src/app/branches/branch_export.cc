#include "app/branches/branch_export.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/branches/bolt_samples.h"
#include "app/branches/image_branches.h"
#include "app/branches/propeller_profile.h"
#include "capture/branch_order.h"
#include "core/sort_rows.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "symbolize/block_map.h"
#include "symbolize/symbol_table.h"

namespace stackpack::app {

namespace {

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Error cannot_use(std::string_view why) {
  return {ErrorCode::kUsage, kNoOffset, why};
}

// Formats that know functions have symbols in them.
bool needs_blocks(BranchProfile profile) {
  return profile == BranchProfile::kPropeller || profile == BranchProfile::kPropellerOrder;
}

struct RecordedImage {
  ImageBranches branches;
  ImageSamples samples;
};

// What a file says of its branches, or samples, and images.
struct Recorded {
  std::vector<Module> modules;
  std::map<std::uint32_t, RecordedImage> images;
  std::vector<std::string> events;  // of samples
};

Status take_samples(const Reader& reader, const SampleFilter& filter, Recorded& recorded) {
  Result<LeafSamples> leaves = leaf_samples(reader, filter);
  if (!leaves) {
    return leaves.error();
  }
  if (leaves->images.empty()) {
    return cannot_use("has no samples in images");
  }
  for (auto& [row, samples] : leaves->images) {
    recorded.images[row].samples = std::move(samples);
  }
  recorded.events = std::move(leaves->events);
  return {};
}

Status take_branches(const Reader& reader, const BranchRules& rules, Recorded& recorded) {
  const Result<Branches> branches = reader.branches();
  if (!branches) {
    return branches.error();
  }
  if (branches->edges.empty()) {
    return cannot_use("has no branches: perf record -b records them");
  }
  for (auto& [row, image] : branches_by_image(*branches, rules)) {
    recorded.images[row].branches = std::move(image);
  }
  return {};
}

Result<Recorded> recorded_images(const Reader& reader, const BranchExportOptions& options) {
  Result<std::vector<Module>> modules = reader.modules();
  if (!modules) {
    return modules.error();
  }
  Recorded recorded;
  recorded.modules = std::move(*modules);
  const Status taken = options.profile == BranchProfile::kBoltNoLbr
                           ? take_samples(reader, options.filter, recorded)
                           : take_branches(reader, options.rules, recorded);
  return taken ? Result<Recorded>(std::move(recorded)) : Result<Recorded>(taken.error());
}

// The profile of an image. `symbols`, `blocks`: the files that have them.
Result<BranchText> text_of(const BranchExportOptions& options, const Recorded& recorded,
                           const RecordedImage& image, const symbolize::ElfIdentity& elf,
                           io::ByteSource& symbols, io::ByteSource& blocks) {
  if (options.profile != BranchProfile::kBoltNoLbr && !needs_blocks(options.profile)) {
    std::optional<BranchText> made = branch_profile_text(options.profile, image.branches, elf);
    return made ? Result<BranchText>(std::move(*made))
                : Result<BranchText>(cannot_use("has no segments"));
  }
  const Result<symbolize::SymbolTable> table = symbolize::SymbolTable::read(symbols);
  if (!table) {
    return table.error();
  }
  if (options.profile == BranchProfile::kBoltNoLbr) {
    BoltSamples made = bolt_samples(image.samples, recorded.events, elf, *table);
    return BranchText{std::move(made.text), made.unplaced, made.outside, 0};
  }
  const Result<symbolize::BlockMap> map = symbolize::read_block_map(blocks);
  if (!map) {
    return map.error();
  }
  const PlacedBranches placed = place_branches(image.branches, elf, 0);
  PropellerProfile made = propeller_profile(placed, *map, *table);
  return BranchText{
      std::move(options.profile == BranchProfile::kPropeller ? made.clusters : made.order),
      placed.unplaced, made.outside, made.unnamed};
}

ProfiledImage report_of(const Module& module, const RecordedImage& image) {
  ProfiledImage report;
  report.path = module.path;
  report.build_id = symbolize::build_id_text(module.build_id);
  report.taken = image.branches.taken();
  report.covered_bytes = image.branches.covered_bytes();
  for (const auto& [offset, count] : image.samples) {
    report.samples = capture::saturating_sum(report.samples, count);
  }
  return report;
}

void note_left_out(const BranchText& made, ProfiledImage& report) {
  report.unplaced = made.unplaced;
  report.outside = made.outside;
  report.unnamed = made.unnamed;
}

Status write_text(const std::string& path, const std::string& text,
                  const BranchExportOptions& options) {
  io::OutputRules rules;
  rules.force = options.force;
  if (const Status added = io::add_inputs(rules, std::span(&options.source_path, 1)); !added) {
    return added;
  }
  Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(path, rules);
  if (!out) {
    return out.error();
  }
  const Status written = (*out)->write(std::as_bytes(std::span(text)));
  return written ? (*out)->commit() : written;
}

Status of_output(const Status& status) {
  if (status) {
    return status;
  }
  Error error = status.error();
  error.part = kOutputPart;
  return error;
}

// The row of the image that the binary is: that with its build id. Where one of the two has none
// the path decides, or the name, if one image alone has it.
Result<std::uint32_t> image_of(const Recorded& recorded, const std::string& binary,
                               const symbolize::ElfIdentity& elf) {
  bool other_build = false;
  std::vector<std::uint32_t> by_name;
  for (const auto& [row, image] : recorded.images) {
    const Module& module = recorded.modules[row];
    if (!elf.build_id.empty() && module.build_id == elf.build_id) {
      return row;
    }
    if (name_of(module.path) == name_of(binary)) {
      const bool may_be = module.build_id.empty() || elf.build_id.empty();
      other_build = other_build || !may_be;
      if (may_be && module.path == binary) {
        return row;
      }
      if (may_be) {
        by_name.push_back(row);
      }
    }
  }
  if (by_name.size() == 1) {
    return by_name.front();
  }
  if (!by_name.empty()) {
    return cannot_use(
        "has the name of several images in the capture, and nothing says which one "
        "it is");
  }
  return other_build ? cannot_use(
                           "is another build than the one that was recorded: its build id "
                           "differs from that of the image of its name")
                     : cannot_use(
                           "is no image of the capture with branches or samples, by build id or "
                           "name; --image NAME "
                           "names the one it is");
}

// A name that no image before has: those without a build id may share theirs. `taken`: how often
// each was asked for.
std::string file_name_of(const ProfiledImage& report, BranchProfile profile,
                         std::map<std::string, std::size_t>& taken) {
  std::string name(name_of(report.path));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return static_cast<unsigned char>(c) < 0x21 || c == '/' || c == '\\' || c == ':';
      },
      '_');
  name += report.build_id.empty() ? "" : "-" + report.build_id;
  const std::string ending = "." + std::string(branch_profile_name(profile));
  std::string file = name + ending;
  while (taken.contains(file)) {
    file = name;
    file += "-";
    file += std::to_string(++taken[name + ending]);
    file += ending;
  }
  taken.emplace(file, 1);
  return file;
}

// Writes the profile of one image if its file is there.
Status export_image(const Recorded& recorded, std::uint32_t row,
                    std::span<const symbolize::ImageMapping> mappings, const std::string& directory,
                    const symbolize::SymbolPlaces& places, const BranchExportOptions& options,
                    std::map<std::string, std::size_t>& names, ProfiledImage& report) {
  const Module& module = recorded.modules[row];
  const symbolize::FoundFiles found =
      symbolize::find_elf_files({module.path, module.build_id, mappings}, places);
  if (found.end != symbolize::SearchEnd::kFound) {
    report.why = symbolize::reason_of(found.end, "its build id was not recorded");
    return {};
  }
  const auto image = found.image ? io::source_of_descriptor(found.image.get()) : nullptr;
  const auto debug = found.debug ? io::source_of_descriptor(found.debug.get()) : nullptr;
  const auto of_either = [&](bool in_image) -> io::ByteSource& {
    return image != nullptr && (in_image || debug == nullptr) ? *image : *debug;
  };
  const Result<BranchText> made = text_of(
      options, recorded, recorded.images.at(row), found.layout, of_either(found.layout.has_symbols),
      of_either(image != nullptr && symbolize::has_block_map(*image)));
  if (!made) {
    report.why = "its file: " + std::string(made.error().what);
    return {};
  }
  note_left_out(*made, report);
  report.output = directory + "/" + file_name_of(report, options.profile, names);
  return of_output(write_text(report.output, made->text, options));
}

}  // namespace

Result<ProfiledImage> export_branches(const Reader& reader, const std::string& binary,
                                      const std::string& output,
                                      const BranchExportOptions& options) {
  const io::FilesRead files_read;
  const Result<Recorded> recorded = recorded_images(reader, options);
  if (!recorded) {
    return recorded.error();
  }
  const auto of_binary = [](Error error) {
    error.part = kBinaryPart;
    return error;
  };
  const Result<std::unique_ptr<io::ByteSource>> file = io::open_source(binary);
  if (!file) {
    return of_binary(file.error());
  }
  const Result<symbolize::ElfIdentity> elf = symbolize::read_elf_identity(**file);
  if (!elf) {
    return of_binary(elf.error());
  }
  const Result<std::uint32_t> row =
      image_of(*recorded, options.image.empty() ? binary : options.image, *elf);
  if (!row) {
    return of_binary(row.error());
  }
  const RecordedImage& image = recorded->images.at(*row);
  ProfiledImage report = report_of(recorded->modules[*row], image);
  if (!elf->has_image_offsets || elf->segments.empty()) {
    return of_binary(
        cannot_use("has no segments with the offsets of the image: a debug file alone "
                   "does not say where code is"));
  }
  const Result<BranchText> made = text_of(options, *recorded, image, *elf, **file, **file);
  if (!made) {
    return of_binary(made.error());
  }
  note_left_out(*made, report);
  report.output = output;
  if (const Status written = of_output(write_text(output, made->text, options)); !written) {
    return written.error();
  }
  return report;
}

Result<std::vector<ProfiledImage>> export_all_branches(const Reader& reader,
                                                       const std::string& directory,
                                                       const symbolize::SymbolPlaces& places,
                                                       const BranchExportOptions& options) {
  const io::FilesRead files_read;
  const Result<Recorded> recorded = recorded_images(reader, options);
  if (!recorded) {
    return recorded.error();
  }
  if (const Status made = of_output(io::make_directories(directory)); !made) {
    return made.error();
  }
  std::map<std::pair<std::vector<std::uint8_t>, std::string>, std::vector<symbolize::ImageMapping>>
      mappings;
  const auto key_of = [](const Module& module) {
    return std::pair(module.build_id, module.build_id.empty() ? module.path : std::string());
  };
  for (const Module& module : recorded->modules) {
    mappings[key_of(module)].push_back(symbolize::mapping_of(module));
  }
  std::vector<ProfiledImage> reports;
  std::map<std::string, std::size_t> names;
  for (const auto& [row, image] : recorded->images) {
    const Module& module = recorded->modules[row];
    ProfiledImage& report = reports.emplace_back(report_of(module, image));
    if (const Status written = export_image(*recorded, row, mappings[key_of(module)], directory,
                                            places, options, names, report);
        !written) {
      return written.error();
    }
  }
  core::sort_rows(reports, [](const ProfiledImage& a, const ProfiledImage& b) {
    return std::tie(a.taken, a.samples) > std::tie(b.taken, b.samples);
  });
  return reports;
}

}  // namespace stackpack::app
