#include "app/branches/branch_export.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "io/byte_source.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"

namespace stackpack::app {

namespace {

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Error cannot_use(std::string_view why) {
  return {ErrorCode::kUsage, kNoOffset, why};
}

// What a file says of its branches and images.
struct Recorded {
  std::vector<Module> modules;
  std::map<std::uint32_t, ImageBranches> images;
};

Result<Recorded> recorded_branches(const Reader& reader, const BranchRules& rules) {
  Result<std::vector<Module>> modules = reader.modules();
  const Result<Branches> branches = reader.branches();
  if (!modules || !branches) {
    return modules ? branches.error() : modules.error();
  }
  if (branches->edges.empty()) {
    return cannot_use("has no branches: perf record -b records them");
  }
  return Recorded{std::move(*modules), branches_by_image(*branches, rules)};
}

ProfiledImage report_of(const Module& module, const ImageBranches& image) {
  ProfiledImage report;
  report.path = module.path;
  report.build_id = symbolize::build_id_text(module.build_id);
  report.taken = image.taken();
  report.covered_bytes = image.covered_bytes();
  return report;
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
                           "has no branches in the capture, by build id or name; --image NAME "
                           "names the one it is");
}

std::string file_name_of(const ProfiledImage& report, BranchProfile profile) {
  std::string name(name_of(report.path));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return static_cast<unsigned char>(c) < 0x21 || c == '/' || c == '\\' || c == ':';
      },
      '_');
  name += report.build_id.empty() ? "" : "-" + report.build_id;
  return name + "." + std::string(branch_profile_name(profile));
}

// Writes the profile of one image if its file is there.
Status export_image(const Module& module, std::span<const symbolize::ImageMapping> mappings,
                    const ImageBranches& image, const std::string& directory,
                    const symbolize::SymbolPlaces& places, const BranchExportOptions& options,
                    ProfiledImage& report) {
  const symbolize::FoundFiles found =
      symbolize::find_elf_files({module.path, module.build_id, mappings}, places);
  if (found.end != symbolize::SearchEnd::kFound) {
    report.why = symbolize::reason_of(found.end, "its build id was not recorded");
    return {};
  }
  const std::optional<BranchText> made = branch_profile_text(options.profile, image, found.layout);
  if (!made) {
    report.why = "its file has no segments";
    return {};
  }
  report.unplaced = made->unplaced;
  report.output = directory + "/" + file_name_of(report, options.profile);
  return of_output(write_text(report.output, made->text, options));
}

}  // namespace

Result<ProfiledImage> export_branches(const Reader& reader, const std::string& binary,
                                      const std::string& output,
                                      const BranchExportOptions& options) {
  const io::FilesRead files_read;
  const Result<Recorded> recorded = recorded_branches(reader, options.rules);
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
  const ImageBranches& image = recorded->images.at(*row);
  ProfiledImage report = report_of(recorded->modules[*row], image);
  const std::optional<BranchText> made =
      elf->has_image_offsets ? branch_profile_text(options.profile, image, *elf) : std::nullopt;
  if (!made) {
    return of_binary(
        cannot_use("has no segments with the offsets of the image: a debug file alone "
                   "does not say where code is"));
  }
  report.unplaced = made->unplaced;
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
  const Result<Recorded> recorded = recorded_branches(reader, options.rules);
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
  for (const auto& [row, image] : recorded->images) {
    const Module& module = recorded->modules[row];
    ProfiledImage& report = reports.emplace_back(report_of(module, image));
    if (const Status written = export_image(module, mappings[key_of(module)], image, directory,
                                            places, options, report);
        !written) {
      return written.error();
    }
  }
  std::stable_sort(
      reports.begin(), reports.end(),
      [](const ProfiledImage& a, const ProfiledImage& b) { return a.taken > b.taken; });
  return reports;
}

}  // namespace stackpack::app
