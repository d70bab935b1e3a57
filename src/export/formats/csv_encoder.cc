// Tables for SQL: one CSV file each, and scripts that load them with their types.
//
// stacks is the tree of callstacks, a row per node: a frame, the node of its caller, and where the
// frame lies. A sample names its callstack by the id that `show` takes, and the node where the
// callstack ends; a recursive query climbs from there to the root. What an address means depends on
// process and time, so that one callstack may have several nodes. The first one has the callstack's
// id for its own; all other nodes count on from the number of callstacks.
//
// frames and functions have what is known of a node's location by name, inlined calls included.
//
// Addresses are text of fixed width: a number beyond 2^63 is a floating-point one to many readers,
// which loses bits, and text of one width sorts as the numbers do.

#include <algorithm>
#include <array>
#include <charconv>

#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/formats/csv_schema.h"
#include "export/job/export_job.h"
#include "export/output/csv_table.h"
#include "query/naming/build_id_text.h"

namespace stackpack::exporting {

namespace {

std::string frame_text(const Frame& frame) {
  std::string text(1, mode_letter(frame.mode));
  std::array<char, 16> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), frame.address, 16).ptr;
  return text.append(digits.data(), end);
}

std::string_view origin_text(StackOrigin origin) {
  switch (origin) {
    case StackOrigin::kNone:
      return "none";
    case StackOrigin::kIpOnly:
      return "ip_only";
    case StackOrigin::kRecorded:
      return "recorded";
    case StackOrigin::kUnwound:
      return "unwound";
  }
  return "";
}

class CsvEncoder {
 public:
  CsvEncoder(ExportJob& job, std::string directory)
      : job_(job),
        directory_(std::move(directory)),
        locations_(job.selection, {.identity = query::ImageIdentity::kMapping,
                                   .style = job.named_style(),
                                   .recorded = true,
                                   .by_range = true}),
        resolver_(job.selection, locations_, tree_) {}

  Status write() {
    using Step = Status (CsvEncoder::*)();
    constexpr std::array<Step, 11> kSteps = {
        &CsvEncoder::resolve_stacks,  &CsvEncoder::write_stacks,    &CsvEncoder::write_frames,
        &CsvEncoder::write_functions, &CsvEncoder::write_samples,   &CsvEncoder::write_events,
        &CsvEncoder::write_modules,   &CsvEncoder::write_processes, &CsvEncoder::write_threads,
        &CsvEncoder::write_metadata,  &CsvEncoder::write_scripts};
    for (const Step step : kSteps) {
      if (const Status status = (this->*step)(); !status) {
        return status;
      }
    }
    return commit();
  }

 private:
  // All tables or none: nothing takes its place before everything is on the disk. From there on the
  // others are put in place whatever happens to one.
  Status commit() {
    for (const auto& table : tables_) {
      job_.report.output_bytes += table->bytes();
      if (const Status prepared = table->prepare(); !prepared) {
        return prepared;
      }
    }
    Status result;
    for (const auto& table : tables_) {
      const Status committed = table->commit();
      result = result ? committed : result;
    }
    return result;
  }

  Result<CsvTable*> begin_table(std::string_view name) {
    auto table = CsvTable::create(directory_ + "/" + std::string(name) + ".csv",
                                  csv_header(name, job_.view().has_samples), job_.rules);
    if (!table) {
      return table.error();
    }
    return tables_.emplace_back(std::move(*table)).get();
  }

  // Finds the node of every (callstack, mapping context) that occurs. Groups come in that order.
  Status resolve_stacks() {
    query::SampleGrouper grouper(job_.selection, {.context = true, .weight = false},
                                 job_.group_limit());
    const Status status = for_each_resolved(
        grouper, resolver_, kResolvedBlock, {},
        [this](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
          for (std::size_t i = 0; i < groups.size(); ++i) {
            if (groups[i].key.stack != kNoStack) {
              ends_.push_back({groups[i].key.stack, groups[i].key.context, nodes[i]});
            }
          }
          return Status{};
        });
    if (status) {
      number_nodes();
    }
    return status;
  }

  void number_nodes() {
    constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};
    number_of_node_.assign(tree_.node_count(), kNoNumber);
    first_end_.assign(std::size_t{job_.view().stack_count} + 1, 0);
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const bool first = i == 0 || ends_[i - 1].stack != ends_[i].stack;
      job_.report.stacks += first ? 1 : 0;
      ++first_end_[std::size_t{ends_[i].stack} + 1];
      if (first) {
        number_of_node_[ends_[i].node] = ends_[i].stack;
      }
    }
    for (std::size_t stack = 1; stack < first_end_.size(); ++stack) {
      first_end_[stack] += first_end_[stack - 1];
    }
    std::uint32_t next = job_.view().stack_count;
    for (std::uint32_t node = 1; node < number_of_node_.size(); ++node) {
      number_of_node_[node] = number_of_node_[node] == kNoNumber ? next++ : number_of_node_[node];
    }
  }

  Status write_stacks() {
    const auto table = begin_table("stacks");
    if (!table) {
      return table.error();
    }
    std::string name;
    for (std::uint32_t node = 1; node < tree_.node_count() && (*table)->status(); ++node) {
      CsvTable& row = **table;
      row.number(number_of_node_[node]);
      if (tree_.parent(node) == query::StackTree::kRoot) {
        row.nothing();
      } else {
        row.number(number_of_node_[tree_.parent(node)]);
      }
      const std::uint32_t number = tree_.location(node);
      const query::Location& place = locations_.location(number);
      row.text(frame_text({place.mode, place.address})).hex(place.address);
      if (place.image != query::kNoImage) {
        row.number(locations_.module_row_of_image(place.image));
        row.text(locations_.image_name(place.image)).hex(locations_.file_offset(number));
      } else {
        row.nothing().nothing().nothing();
      }
      name.clear();
      locations_.append_text(number, name);
      row.text(name);
      if (place.code == query::kNoCode) {
        row.nothing();
      } else {
        row.number(number);
      }
      row.end_row();
    }
    return (*table)->finish();
  }

  // The functions that named locations lie in, innermost first: one, unless calls were inlined.
  Status write_frames() {
    const auto table = begin_table("frames");
    if (!table) {
      return table.error();
    }
    for (std::uint32_t i = 0; i < locations_.size() && (*table)->status(); ++i) {
      std::uint32_t depth = 0;
      for (std::uint32_t at = locations_.location(i).code; at != query::kNoCode;) {
        const query::SourcePlace& place = locations_.places()[at];
        (*table)->number(i).number(depth++).number(place.function);
        (*table)->known(place.line, std::uint32_t{0}).end_row();
        at = place.outer;
      }
    }
    return (*table)->finish();
  }

  Status write_functions() {
    const auto table = begin_table("functions");
    if (!table) {
      return table.error();
    }
    for (std::size_t i = 0; i < locations_.functions().size() && (*table)->status(); ++i) {
      const query::FunctionName& function = locations_.functions()[i];
      CsvTable& row = **table;
      row.number(i).text(locations_.text(function.name)).text(locations_.text(function.linkage));
      row.text(locations_.text(function.file)).known(function.start_line, std::uint32_t{0});
      row.text(source_name(function.source));
      write_range(row, function.row);
      row.end_row();
    }
    return (*table)->finish();
  }

  // Where a function lies; one that is known as inlined only lies nowhere of its own.
  void write_range(CsvTable& row, std::uint32_t number) {
    if (number == query::kNoRow) {
      row.nothing().nothing().nothing().nothing().nothing();
      return;
    }
    const Function& function = job_.view().names.functions[number];
    row.known(function.pid, kKernelPid);
    if (function.owner == FunctionOwner::kImage) {
      row.number(function.module);
    } else {
      row.nothing();
    }
    row.hex(function.start).hex(function.start + (function.size - 1));
    row.known(function.born_ns, kUnknownTime);
  }

  // The columns of a sample about its callstack, process and thread.
  void write_references(CsvTable& row, const query::SelectedSample& sample) {
    row.known(sample.stack, kNoStack);
    const std::uint32_t node = sample.stack == kNoStack ? query::StackTree::kRoot : node_of(sample);
    if (node == query::StackTree::kRoot) {
      row.nothing();
    } else {
      row.number(number_of_node_[node]);
    }
    const query::Track& track = job_.selection.tracks()[sample.track];
    row.known(track.process, query::kNoRow);
    if (job_.view().has_samples) {
      row.known(track.thread, query::kNoRow);
    }
    row.text(job_.selection.thread_name(track)).end_row();
  }

  [[nodiscard]] std::uint32_t node_of(const query::SelectedSample& sample) const {
    const auto begin = ends_.begin() + static_cast<std::ptrdiff_t>(first_end_[sample.stack]);
    const auto end = ends_.begin() + static_cast<std::ptrdiff_t>(first_end_[sample.stack + 1]);
    const auto found =
        std::lower_bound(begin, end, sample.context,
                         [](const End& a, std::uint32_t context) { return a.context < context; });
    return found == end ? query::StackTree::kRoot : found->node;
  }

  Status write_samples() {
    const auto table = begin_table("samples");
    if (!table) {
      return table.error();
    }
    const Status status =
        job_.selection.for_each([&](std::span<const query::SelectedSample> block) {
          for (const query::SelectedSample& sample : block) {
            if (job_.view().has_samples) {
              write_sample(**table, sample);
            } else {
              write_count(**table, sample);
            }
            write_references(**table, sample);
            job_.report.samples += sample.count;
            core::add_saturating(job_.report.weight, job_.selection.value_of(sample));
          }
          return (*table)->status();
        });
    return status ? (*table)->finish() : status;
  }

  [[nodiscard]] unsigned decimals_of(const query::SelectedSample& sample) const {
    const query::EventChoice& choice = job_.selection.choice();
    return core::parse_unit(choice.weight_unit(sample.event)).decimals;
  }

  void write_sample(CsvTable& row, const query::SelectedSample& sample) const {
    row.number(sample.time_ns).known(sample.pid, kUnknownId).known(sample.tid, kUnknownId);
    row.known(sample.cpu, kUnknownId).number(sample.event);
    row.decimal(sample.weight, decimals_of(sample));
    row.text(origin_text(sample.origin)).number(sample.flags);
  }

  // Of a file which keeps counts only.
  void write_count(CsvTable& row, const query::SelectedSample& sample) const {
    row.known(sample.pid, kUnknownId).number(sample.event).number(sample.count);
    row.decimal(sample.weight, decimals_of(sample)).text(origin_text(sample.origin));
  }

  Status write_events() {
    const auto table = begin_table("events");
    if (!table) {
      return table.error();
    }
    for (std::size_t i = 0; i < job_.view().events.size(); ++i) {
      const Event& event = job_.view().events[i];
      (*table)->number(i).text(event.name).number(event.has_weight ? 1 : 0).end_row();
    }
    return (*table)->finish();
  }

  Status write_modules() {
    const auto table = begin_table("modules");
    if (!table) {
      return table.error();
    }
    for (std::size_t i = 0; i < job_.view().modules.size(); ++i) {
      const Module& module = job_.view().modules[i];
      CsvTable& row = **table;
      row.number(i).known(module.pid, kKernelPid).hex(module.base).hex(last_address(module));
      row.hex(module.size).hex(module.file_offset).known(module.start_ns, kUnknownTime);
      row.known(module.end_ns, kUnknownTime).text(module.path);
      row.text(query::build_id_text(module)).text(module.debug_name).end_row();
    }
    return (*table)->finish();
  }

  static std::uint64_t last_address(const Module& module) {
    return module.size == 0 ? module.base : core::saturating_sum(module.base, module.size - 1);
  }

  Status write_processes() {
    const auto table = begin_table("processes");
    if (!table) {
      return table.error();
    }
    std::uint64_t id = 0;
    for (const Process& process : job_.view().processes) {
      CsvTable& row = **table;
      row.number(id++).known(process.pid, kUnknownId).known(process.parent_pid, kUnknownId);
      row.known(process.start_ns, kUnknownTime).known(process.end_ns, kUnknownTime);
      row.text(process.name).text(process.command_line).end_row();
    }
    return (*table)->finish();
  }

  Status write_threads() {
    const auto table = begin_table("threads");
    if (!table) {
      return table.error();
    }
    std::uint64_t id = 0;
    for (const Thread& thread : job_.view().threads) {
      CsvTable& row = **table;
      row.number(id++).known(thread.pid, kUnknownId).known(thread.tid, kUnknownId);
      row.known(thread.start_ns, kUnknownTime).known(thread.end_ns, kUnknownTime);
      row.text(thread.name).end_row();
    }
    return (*table)->finish();
  }

  Status write_metadata() {
    const auto table = begin_table("metadata");
    if (!table) {
      return table.error();
    }
    for (const MetadataEntry& entry : job_.view().metadata) {
      (*table)->text(entry.key).text(entry.value).end_row();
    }
    return (*table)->finish();
  }

  Status write_scripts() {
    const bool samples = job_.view().has_samples;
    for (const auto& [name, text] : {std::pair("load.duckdb.sql", duckdb_script(samples)),
                                     std::pair("load.sqlite.sql", sqlite_script(samples))}) {
      auto script = CsvTable::create(directory_ + "/" + name, text);
      if (!script) {
        return script.error();
      }
      if (const Status status = (*script)->finish(); !status) {
        return status;
      }
      tables_.push_back(std::move(*script));
    }
    return {};
  }

  // Where a callstack ends in a mapping context.
  struct End {
    StackId stack = kNoStack;
    std::uint32_t context = 0;
    std::uint32_t node = 0;
  };

  ExportJob& job_;
  std::string directory_;
  std::vector<std::unique_ptr<CsvTable>> tables_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  std::vector<End> ends_;                      // by callstack, then context
  std::vector<std::size_t> first_end_;         // by callstack
  std::vector<std::uint32_t> number_of_node_;  // as the tables have it
};

}  // namespace

Status write_csv(ExportJob& job, const std::string& directory) {
  return CsvEncoder(job, directory).write();
}

}  // namespace stackpack::exporting
