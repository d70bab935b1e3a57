#include "app/symbolize/symbolize.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "app/listing/listed_texts.h"
#include "app/symbolize/added_names.h"
#include "app/symbolize/asked_addresses.h"
#include "app/symbolize/image_names.h"
#include "app/symbolize/machine_sources.h"
#include "app/symbolize/map_plans.h"
#include "app/symbolize/read_plans.h"
#include "app/symbolize/readable_names.h"
#include "app/symbolize/renamed_file.h"
#include "capture/time_resolution.h"
#include "core/guard.h"
#include "core/sort_rows.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "spk/format/directory.h"
#include "stackpack/reader.h"
#include "stackpack/symbols.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

namespace {

Error of_output(Error error) {
  error.part = kOutputPart;
  return error;
}

// What the output may replace. `input` may be empty.
Result<io::OutputRules> rules_for(const std::string& input, const SymbolizeOptions& options) {
  io::OutputRules rules;
  rules.force = options.force;
  rules.replaceable = spk::looks_like_spk;
  rules.refusal = "exists and is not a .spk file; option force replaces it";
  std::vector<std::string> inputs = options.other_inputs;
  if (!input.empty()) {
    inputs.push_back(input);
  }
  const Status noted = io::add_inputs(rules, inputs);
  return noted ? Result<io::OutputRules>(std::move(rules)) : noted.error();
}

/// One run: a file, and what its addresses are called.
class Run {
 public:
  Run(const SymbolizeOptions& options, ConvertProgress* progress)
      : options_(options), progress_(progress) {}

  Result<SymbolizeReport> run(const std::string& input, const std::string& output) {
    const Result<io::OutputRules> rules = rules_for(input, options_);
    if (!rules) {
      return rules.error();
    }
    if (const Status allowed = io::check_output(output, *rules); !allowed) {
      return of_output(allowed.error());
    }
    if (const Status bundles = symbolize::open_bundles(options_.places); !bundles) {
      return bundles.error();
    }
    if (!options_.kallsyms.empty()) {
      if (const Status usable = check_kallsyms(options_.kallsyms); !usable) {
        Error error = usable.error();
        error.part = kKallsymsPart;
        return error;
      }
    }
    Result<Names> names = collect(input);
    if (!names) {
      return names.error();
    }
    Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, *rules);
    if (!out) {
      return of_output(out.error());
    }
    if (const Status written = write_renamed(input, *names, **out); !written) {
      return written.error();
    }
    if (progress_ != nullptr && progress_->cancelled) {
      return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
    }
    report_.refused_kit_entries = symbolize::refused_entries(options_.places);
    report_.output_bytes = (*out)->offset();
    if (const Status committed = (*out)->commit(); !committed) {
      return of_output(committed.error());
    }
    return std::move(report_);
  }

 private:
  // The names that the file has and those that are found.
  Result<Names> collect(const std::string& input) {
    const Result<std::unique_ptr<Reader>> reader = Reader::open(input);
    if (!reader) {
      return reader.error();
    }
    // Most sections are copied as they are; a file that was made just now is sound.
    if (const Status sound = options_.capture.empty() ? (*reader)->verify() : Status{}; !sound) {
      return sound.error();
    }
    const Result<std::vector<Module>> modules = (*reader)->modules();
    if (!modules) {
      return modules.error();
    }
    Result<Names> old = (*reader)->names();
    if (!old) {
      return old.error();
    }
    const NamingOptions reading{options_.inlines, 1, options_.unconfined, options_.lines};
    if (const Status readable = make_readable(*old, reading); !readable) {
      return readable.error();
    }
    const auto metadata = (*reader)->metadata();
    if (!metadata) {
      return metadata.error();
    }
    if (const Status known = look_around(**reader, input, *modules, *metadata); !known) {
      return known.error();
    }
    // A list of the kernel's symbols has those of its modules.
    Result<AskedAddresses> asked =
        asked_addresses(**reader, machine_.kernel_list.with_modules, options_.shown);
    if (!asked && asked.error().code == ErrorCode::kUsage) {
      options_.shown = {};
      asked = asked_addresses(**reader, machine_.kernel_list.with_modules, options_.shown);
    }
    if (!asked) {
      return asked.error();
    }
    const std::vector<std::uint32_t> first_rows = symbols::first_rows_of(*modules);
    take_mappings(*modules, first_rows);
    if (const Status fetched = fetch(*asked, *modules); !fetched) {
      return fetched.error();
    }
    plan_tasks(*asked, *modules, *metadata);
    if (const Status answered = find_answers({}); !answered) {
      return answered.error();
    }
    // Names say which frames were interrupted, and so which addresses are to be named.
    if (auto entries = names_with_entries(*old, first_rows, asked_owners(), answers_)) {
      asked = asked_addresses(**reader, machine_.kernel_list.with_modules, options_.shown,
                              std::move(entries));
      const Status answered =
          asked ? ask_again(*asked, *modules, *metadata) : Status(asked.error());
      if (!answered) {
        return answered.error();
      }
    }
    AddedNames names(*old, first_rows);
    add_names(names);
    add_images_up();
    return std::move(names).finish();
  }

  void take_mappings(const std::vector<Module>& modules,
                     const std::vector<std::uint32_t>& first_rows) {
    mappings_.assign(modules.size(), {});
    for (std::size_t row = 0; row < modules.size(); ++row) {
      mappings_[first_rows[row]].push_back(symbolize::mapping_of(modules[row]));
    }
  }

  // Images of most addresses first.
  void add_images_up() {
    core::sort_rows(report_.images,
                    [](const ImageReport& a, const ImageReport& b) { return a.asked > b.asked; });
    for (const ImageReport& image : report_.images) {
      report_.asked += image.asked;
      report_.named += image.named;
      report_.lines += image.lines;
    }
  }

  // What names the capture unasked, and by which list the kernel is named.
  Status look_around(const Reader& reader, const std::string& input,
                     const std::vector<Module>& modules,
                     const std::vector<MetadataEntry>& metadata) {
    symbolize::SymbolPlaces unused;
    auto sources = look_on_this_machine(reader, modules, metadata,
                                        options_.capture.empty() ? input : options_.capture,
                                        options_.this_machine ? options_.places : unused);
    if (!sources) {
      return sources.error();
    }
    machine_ = std::move(*sources);
    if (!options_.this_machine) {
      machine_ = {machine_.reference, machine_.kernel, {}, false, {}};
    }
    if (!options_.kallsyms.empty()) {
      machine_.kernel_list = {options_.kallsyms, true};
    }
    return {};
  }

  // Asks servers for what is not here of images, those with most addresses first.
  Status fetch(const AskedAddresses& asked, const std::vector<Module>& modules) {
    if (!options_.debuginfod || !options_.images) {
      return {};
    }
    std::vector<const AskedImage*> images;
    for (const AskedImage& image : asked.images) {
      images.push_back(&image);
    }
    core::sort_rows(images, [](const AskedImage* a, const AskedImage* b) {
      return a->offsets.size() > b->offsets.size();
    });
    std::vector<WantedFile> files;
    for (const AskedImage* image : images) {
      const Module& module = modules[image->module];
      if (module.build_id_kind != BuildIdKind::kGnu || module.build_id.empty()) {
        continue;
      }
      const symbolize::FoundFiles found = symbolize::find_elf_files(
          {module.path, module.build_id, mappings_[image->module]}, options_.places);
      const std::string id = symbolize::build_id_text(module.build_id);
      if (!found.image) {
        files.push_back({id, true});
      }
      if (!found.debug && !found.layout.has_dwarf) {
        files.push_back({id, false});
      }
    }
    const auto report = fetch_files(files, {}, [&](std::size_t done) {
      if (progress_ == nullptr) {
        return true;
      }
      progress_->bytes_total = files.size();
      progress_->bytes_done = done;
      return !progress_->cancelled;
    });
    if (!report) {
      return report.error();
    }
    report_.fetch = *report;
    for (std::string& cache : caches_of_this_machine()) {
      options_.places.directories.push_back(std::move(cache));
    }
    return {};
  }

  // When a process started, as a file says when it was written.
  [[nodiscard]] MapTimes map_times_of(const AskedProcess& process) const {
    MapTimes times{std::nullopt, machine_.times.ended_ns};
    if (machine_.times.wall_offset_ns && process.life_ns != kUnknownTime) {
      times.started_ns =
          static_cast<std::int64_t>(process.life_ns) + *machine_.times.wall_offset_ns;
    }
    return times;
  }

  /// A task, whose names its answer is, which of them are wanted, and what is reported of it.
  struct Part {
    symbols::RangeOwner owner;
    std::vector<std::uint64_t> asked;  // the addresses of the task, or fewer
    ImageReport report;
  };

  void add_task(std::vector<std::uint64_t> addresses, const symbols::RangeOwner& owner,
                std::string path, const Module* module, std::function<ReadPlan()> plan) {
    tasks_.push_back({addresses, std::move(plan)});
    Part part;
    part.owner = owner;
    part.asked = std::move(addresses);
    part.report.path = std::move(path);
    part.report.build_id = module == nullptr ? "" : listed_build_id(*module);
    part.report.asked = part.asked.size();
    parts_.push_back(std::move(part));
  }

  void plan_tasks(const AskedAddresses& asked, const std::vector<Module>& modules,
                  const std::vector<MetadataEntry>& metadata) {
    if (options_.images) {
      plan_images(asked.images, modules);
    }
    if (options_.images && !asked.kernel.empty()) {
      plan_kernel(asked.kernel);
    }
    plan_processes(asked.processes, modules, metadata);
  }

  void plan_images(const std::vector<AskedImage>& images, const std::vector<Module>& modules) {
    for (const AskedImage& image : images) {
      const Module& module = modules[image.module];
      add_task(image.offsets, {FunctionOwner::kImage, image.module, kUnknownTime}, module.path,
               &module, [&module, row = image.module, callers = image.callers, this] {
                 return plan_image(module, {mappings_[row], callers}, options_.places);
               });
    }
  }

  // Code that was made at run time, and addresses that the recorder knew no mapping of.
  void plan_processes(const std::vector<AskedProcess>& processes,
                      const std::vector<Module>& modules,
                      const std::vector<MetadataEntry>& metadata) {
    const bool monotonic =
        !capture::has_no_times(metadata) &&
        std::any_of(metadata.begin(), metadata.end(), [](const MetadataEntry& entry) {
          return entry.key == "clock.id" && entry.value == "monotonic";
        });
    for (const AskedProcess& process : processes) {
      const std::string dump = "/jit-" + std::to_string(process.pid) + ".dump";
      const auto mapped = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
        return module.pid == process.pid && module.path.ends_with(dump);
      });
      const bool has_dump = mapped != modules.end() && options_.map_folder.empty();
      const std::string path = has_dump ? mapped->path : std::string();
      const symbols::RangeOwner owner{FunctionOwner::kProcess, process.pid, process.life_ns};
      add_task(process.addresses, owner, "[no file] of " + std::to_string(process.pid), nullptr,
               [this, path, monotonic, pid = process.pid, times = map_times_of(process)] {
                 if (!path.empty()) {
                   return options_.places.has_root
                              ? plan_jitdump(options_.places.root, path, monotonic)
                              : plan_jitdump_of_process(path, monotonic, times);
                 }
                 if (!options_.map_folder.empty()) {
                   return plan_run_time_code(options_.map_folder, pid, monotonic);
                 }
                 ReadPlan plan = machine_.is_here ? plan_map_of_process(pid, times) : ReadPlan();
                 if (plan.files.empty() && !plan.reason.ends_with("believes it")) {
                   plan.reason = "in no mapped file; --perf-map DIR names code made at run time";
                 }
                 return plan;
               });
    }
  }

  void plan_kernel(const std::vector<std::uint64_t>& addresses) {
    const symbols::RangeOwner owner{FunctionOwner::kKernel, kKernelPid, kUnknownTime};
    add_task(addresses, owner, "[kernel]", machine_.kernel, [this] {
      const KernelReference& reference = machine_.reference;
      if (!machine_.kernel_list.path.empty()) {
        ReadPlan plan = plan_kallsyms(machine_.kernel_list.path, reference);
        plan.reason = plan.files.empty() ? plan.reason : machine_.kernel_list.reason;
        return plan;
      }
      ReadPlan plan = plan_kernel_image(machine_.kernel == nullptr ? Module() : *machine_.kernel,
                                        reference, options_.places);
      if (plan.files.empty() && !machine_.kernel_list.reason.empty()) {
        plan.reason = machine_.kernel_list.reason;
      }
      return plan;
    });
    // Where names say that a frame was interrupted, ask_again() wants the address after that of a
    // caller: with both the kernel's symbols are read once.
    std::vector<std::uint64_t>& read = tasks_.back().addresses;
    read.clear();
    for (const std::uint64_t address : addresses) {
      if (read.empty() || read.back() != address) {
        read.push_back(address);
      }
      read.push_back(address + 1);
    }
  }

  [[nodiscard]] std::vector<AskedOwner> asked_owners() const {
    std::vector<AskedOwner> owners;
    owners.reserve(parts_.size());
    for (const Part& part : parts_) {
      owners.push_back({part.owner, part.asked});
    }
    return owners;
  }

  // Plans the tasks anew, and does those that ask for more than they did before.
  Status ask_again(const AskedAddresses& asked, const std::vector<Module>& modules,
                   const std::vector<MetadataEntry>& metadata) {
    Known known;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      known.emplace(parts_[i].owner,
                    std::pair(std::move(tasks_[i].addresses), std::move(answers_[i])));
    }
    tasks_.clear();
    parts_.clear();
    plan_tasks(asked, modules, metadata);
    return find_answers(std::move(known));
  }

  /// What was read of each owner, ascending, and found.
  using Known = std::map<symbols::RangeOwner, std::pair<std::vector<std::uint64_t>, NamingAnswer>>;

  // The answers of all tasks, those of `known` that will do among them.
  Status find_answers(Known known) {
    answers_.assign(tasks_.size(), {});
    std::vector<NamingTask> open;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto at = known.find(parts_[i].owner);
      if (at != known.end() && std::ranges::includes(at->second.first, parts_[i].asked)) {
        answers_[i] = std::move(at->second.second);
      } else {
        open.push_back(tasks_[i]);
        places.push_back(i);
      }
    }
    const unsigned jobs =
        options_.jobs == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options_.jobs;
    if (progress_ != nullptr) {
      progress_->bytes_total = tasks_.size();
    }
    auto found = name_all(open, {options_.inlines, jobs, options_.unconfined, options_.lines},
                          [this, ready = tasks_.size() - open.size()](std::size_t done) {
                            if (progress_ == nullptr) {
                              return true;
                            }
                            progress_->bytes_done = ready + done;
                            return !progress_->cancelled;
                          });
    if (!found) {
      return found.error();
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      answers_[places[i]] = std::move((*found)[i]);
    }
    return {};
  }

  void add_names(AddedNames& names) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const NamingAnswer& answer = answers_[i];
      ImageReport& report = parts_[i].report;
      const AddedNames::Counts counts = names.add(answer.names, parts_[i].owner, parts_[i].asked);
      report.found = answer.found;
      report.debug_file = answer.debug_file;
      report.named = counts.named;
      report.lines = counts.lines;
      report.damaged_parts = answer.losses.damaged_parts;
      report.missing_files = answer.losses.missing_files;
      report.unread_names = answer.losses.unread_names;
      report.replaced = answer.replaced;
      report.reason = answer.reason;
      report_.failed_images += answer.failed ? 1 : 0;
      report_.images.push_back(std::move(report));
    }
  }

  SymbolizeOptions options_;
  ConvertProgress* progress_;
  MachineSources machine_;
  std::vector<NamingTask> tasks_;
  std::vector<Part> parts_;                                     // by task
  std::vector<std::vector<symbolize::ImageMapping>> mappings_;  // of an image, by its first row
  std::vector<NamingAnswer> answers_;                           // by task
  SymbolizeReport report_;
};

}  // namespace

Status check_named_output(const std::string& output, const SymbolizeOptions& options) {
  const Result<io::OutputRules> rules = rules_for("", options);
  if (!rules) {
    return rules.error();
  }
  const Status allowed = io::check_output(output, *rules);
  return allowed ? allowed : Status(of_output(allowed.error()));
}

Result<SymbolizeReport> symbolize_file(const std::string& input, const std::string& output,
                                       const SymbolizeOptions& options, ConvertProgress* progress) {
  const io::FilesRead files_read;
  return core::guarded([&] { return Run(options, progress).run(input, output); });
}

}  // namespace stackpack::app
