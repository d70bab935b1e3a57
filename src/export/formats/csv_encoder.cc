// Tables for SQL: one CSV file each.
//
// stacks is the tree of callstacks, a row per node: (id, parent, frame, address). A sample names
// the node where its callstack ends; a recursive query climbs from there to the root. Nodes are
// numbered on the way through the callstacks: these come in canonical order, where each shares its
// beginning with the one before, so that what is not shared is new. Only one path is kept.
//
// Frames are as recorded: which module an address belongs to is a join with modules on process,
// time and address.

#include <array>
#include <charconv>

#include "export/export_job.h"
#include "export/naming/build_id_text.h"
#include "export/output/csv_table.h"

namespace stackpack::exporting {

namespace {

constexpr std::size_t kIdBlock = std::size_t{1} << 15;

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
  }
  return "";
}

class CsvEncoder {
 public:
  CsvEncoder(ExportJob& job, std::string directory) : job_(job), directory_(std::move(directory)) {}

  Status write() {
    using Step = Status (CsvEncoder::*)();
    constexpr std::array<Step, 8> kSteps = {
        &CsvEncoder::mark_used_stacks, &CsvEncoder::write_stacks,  &CsvEncoder::write_samples,
        &CsvEncoder::write_events,     &CsvEncoder::write_modules, &CsvEncoder::write_processes,
        &CsvEncoder::write_threads,    &CsvEncoder::write_metadata};
    for (const Step step : kSteps) {
      if (const Status status = (this->*step)(); !status) {
        return status;
      }
    }
    for (const auto& table : tables_) {
      job_.report.output_bytes += table->bytes();
      if (const Status status = table->commit(); !status) {
        return status;
      }
    }
    return {};
  }

 private:
  Result<CsvTable*> begin_table(std::string_view name, std::string_view columns) {
    auto table = CsvTable::create(directory_ + "/" + std::string(name) + ".csv", columns);
    if (!table) {
      return table.error();
    }
    return tables_.emplace_back(std::move(*table)).get();
  }

  Status mark_used_stacks() {
    node_of_stack_.assign(job_.view().stack_count, kUnused);
    return job_.selection.for_each([this](std::span<const SelectedSample> block) {
      for (const SelectedSample& sample : block) {
        if (sample.stack != kNoStack) {
          node_of_stack_[sample.stack] = kUsed;
        }
      }
      return Status{};
    });
  }

  Status write_stacks() {
    const auto table = begin_table("stacks", "id,parent,frame,address");
    if (!table) {
      return table.error();
    }
    std::vector<StackId> ids;
    for (StackId id = 0; id < node_of_stack_.size(); ++id) {
      if (node_of_stack_[id] == kUsed) {
        ids.push_back(id);
        ++job_.report.stacks;
      }
      if (ids.size() == kIdBlock || (id + 1 == node_of_stack_.size() && !ids.empty())) {
        if (const Status status = write_nodes(ids, **table); !status) {
          return status;
        }
        ids.clear();
      }
    }
    return (*table)->finish();
  }

  // Ascending ids: their pages, and so the visits, come in the same order.
  Status write_nodes(std::span<const StackId> ids, CsvTable& table) {
    const Status read =
        job_.view().callstacks(ids, [&](std::size_t position, std::span<const Frame> leaf_first) {
          const std::size_t depth = leaf_first.size();
          std::size_t shared = 0;
          while (shared < depth && shared < path_.size() &&
                 path_[shared].frame == leaf_first[depth - 1 - shared]) {
            ++shared;
          }
          path_.resize(shared);
          for (std::size_t i = shared; i < depth; ++i) {
            const Frame& frame = leaf_first[depth - 1 - i];
            const std::uint64_t parent = path_.empty() ? 0 : path_.back().id;
            path_.push_back({frame, ++node_count_});
            table.number(node_count_).known(parent, std::uint64_t{0});
            table.text(frame_text(frame)).number(frame.address).end_row();
          }
          node_of_stack_[ids[position]] = path_.empty() ? kUsed : path_.back().id;
        });
    return read ? table.status() : read;
  }

  CsvTable& stack_of(CsvTable& table, StackId stack) {
    return stack == kNoStack || node_of_stack_[stack] == kUsed
               ? table.nothing()
               : table.number(node_of_stack_[stack]);
  }

  Status write_samples() {
    if (!job_.view().has_samples) {
      return write_counts();
    }
    const auto table =
        begin_table("samples", "time_ns,pid,tid,cpu,event,weight,origin,flags,stack");
    if (!table) {
      return table.error();
    }
    const Status status = job_.selection.for_each([&](std::span<const SelectedSample> block) {
      for (const SelectedSample& sample : block) {
        CsvTable& row = **table;
        row.number(sample.time_ns).known(sample.pid, kUnknownId).known(sample.tid, kUnknownId);
        row.known(sample.cpu, kUnknownId).number(sample.event).number(sample.weight);
        row.text(origin_text(sample.origin)).number(sample.flags);
        stack_of(row, sample.stack).end_row();
        ++job_.report.samples;
        job_.report.weight += job_.selection.value_of(sample);
      }
      return (*table)->status();
    });
    return status ? (*table)->finish() : status;
  }

  // Of a file which keeps counts only.
  Status write_counts() {
    const auto table = begin_table("samples", "pid,event,samples,weight,origin,stack");
    if (!table) {
      return table.error();
    }
    const Status status = job_.selection.for_each([&](std::span<const SelectedSample> block) {
      for (const SelectedSample& sample : block) {
        CsvTable& row = **table;
        row.known(sample.pid, kUnknownId).number(sample.event).number(sample.count);
        row.number(sample.weight).text(origin_text(sample.origin));
        stack_of(row, sample.stack).end_row();
        job_.report.samples += sample.count;
        job_.report.weight += job_.selection.value_of(sample);
      }
      return (*table)->status();
    });
    return status ? (*table)->finish() : status;
  }

  Status write_events() {
    const auto table = begin_table("events", "id,name,has_weight");
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
    const auto table = begin_table(
        "modules", "id,pid,base,size,file_offset,start_ns,end_ns,path,build_id,debug_name");
    if (!table) {
      return table.error();
    }
    for (std::size_t i = 0; i < job_.view().modules.size(); ++i) {
      const Module& module = job_.view().modules[i];
      CsvTable& row = **table;
      row.number(i).known(module.pid, kKernelPid).number(module.base).number(module.size);
      row.number(module.file_offset).known(module.start_ns, kUnknownTime);
      row.known(module.end_ns, kUnknownTime).text(module.path);
      row.text(build_id_text(module)).text(module.debug_name).end_row();
    }
    return (*table)->finish();
  }

  Status write_processes() {
    const auto table = begin_table("processes", "pid,parent_pid,start_ns,end_ns,name,command_line");
    if (!table) {
      return table.error();
    }
    for (const Process& process : job_.view().processes) {
      CsvTable& row = **table;
      row.known(process.pid, kUnknownId).known(process.parent_pid, kUnknownId);
      row.known(process.start_ns, kUnknownTime).known(process.end_ns, kUnknownTime);
      row.text(process.name).text(process.command_line).end_row();
    }
    return (*table)->finish();
  }

  Status write_threads() {
    const auto table = begin_table("threads", "pid,tid,start_ns,end_ns,name");
    if (!table) {
      return table.error();
    }
    for (const Thread& thread : job_.view().threads) {
      CsvTable& row = **table;
      row.known(thread.pid, kUnknownId).known(thread.tid, kUnknownId);
      row.known(thread.start_ns, kUnknownTime).known(thread.end_ns, kUnknownTime);
      row.text(thread.name).end_row();
    }
    return (*table)->finish();
  }

  Status write_metadata() {
    const auto table = begin_table("metadata", "key,value");
    if (!table) {
      return table.error();
    }
    for (const MetadataEntry& entry : job_.view().metadata) {
      (*table)->text(entry.key).text(entry.value).end_row();
    }
    return (*table)->finish();
  }

  struct PathNode {
    Frame frame;
    std::uint32_t id = 0;
  };
  static constexpr std::uint32_t kUnused = 0;
  static constexpr std::uint32_t kUsed = ~std::uint32_t{0};

  ExportJob& job_;
  std::string directory_;
  std::vector<std::unique_ptr<CsvTable>> tables_;
  std::vector<std::uint32_t> node_of_stack_;  // node ids count from 1
  std::vector<PathNode> path_;                // root first
  std::uint32_t node_count_ = 0;
};

}  // namespace

Status write_csv(ExportJob& job, const std::string& directory) {
  return CsvEncoder(job, directory).write();
}

}  // namespace stackpack::exporting
