// All that can be read of a .spk file, as one text: for digests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stackpack/branches.h"
#include "stackpack/event_values.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"
#include "stackpack/sample_fields.h"
#include "stackpack/sources.h"
#include "stackpack/waits.h"

namespace stackpack::test {

class SpkText {
 public:
  explicit SpkText(const Reader& reader) : reader_(reader) {
    statistics();
    stacks();
    samples();
    system();
    names();
    branches();
    waits();
    values();
    fields();
    status(reader.verify());
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename... Values>
  void add(const Values&... values) {
    (one(values), ...);
    text_ += '\n';
  }
  template <typename Value>
  void one(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      text_ += std::to_string(static_cast<std::uint64_t>(value)) + ' ';
    } else if constexpr (std::is_arithmetic_v<Value>) {
      text_ += std::to_string(value) + ' ';
    } else {
      text_ += std::string(value) + ' ';
    }
  }
  template <typename T>
  bool status(const Result<T>& result) {
    if (!result) {
      text_ += std::string(result.error().what) + '\n';
    }
    return result.has_value();
  }
  bool status(const Status& result) {
    if (!result) {
      text_ += std::string(result.error().what) + '\n';
    }
    return result.has_value();
  }
  template <typename Rows, typename Print>
  void rows(const Result<Rows>& table, const Print& print) {
    if (status(table)) {
      for (const auto& row : *table) {
        print(row);
      }
    }
  }

  void statistics() {
    const Statistics& all = reader_.statistics();
    add(all.source_kind, all.source_bytes, all.source_parsed_bytes, all.source_padding_bytes);
    add(all.samples.total, all.samples.records, all.samples.recorded, all.samples.ip_only);
    add(all.callstacks.unique, all.callstacks.unique_frames, all.callstacks.max_depth);
    add(all.dag.nodes, all.dag.distinct_frames, all.dag.pages);
    for (const SectionInfo& section : reader_.sections()) {
      add(section.name);
    }
    status(reader_.resident_bytes());
    if (const auto range = reader_.time_range(); status(range) && *range) {
      add((*range)->from_ns, (*range)->to_ns);
    }
  }

  void stacks() {
    std::vector<Frame> frames;
    std::vector<StackId> ids;
    for (StackId id = 0; id < std::min<StackId>(reader_.stack_count(), 400); ++id) {
      ids.push_back(reader_.stack_count() - 1 - id);
      if (!status(reader_.callstack(id, frames))) {
        break;
      }
      stack(frames);
    }
    status(reader_.callstacks(ids, [&](std::size_t position, std::span<const Frame> batch) {
      add(position);
      stack(batch);
      return true;
    }));
  }

  void stack(std::span<const Frame> frames) {
    for (const Frame& frame : frames) {
      one(frame.mode);
      one(frame.address);
    }
    text_ += '\n';
  }

  void samples() {
    if (!reader_.has_samples()) {
      rows(reader_.stack_counts(), [&](const StackCount& row) {
        add(row.stack, row.event, row.pid, row.origin, row.samples, row.weight);
      });
      return;
    }
    SampleQuery part;
    part.from_ns = 5'000'000'000;
    part.tid = 100;
    for (const SampleQuery& query : {SampleQuery{}, part}) {
      std::size_t count = 0;
      status(reader_.samples(query, [&](std::span<const StoredSample> block) {
        for (const StoredSample& row : block) {
          add(row.time_ns, row.pid, row.tid, row.cpu, row.event, row.weight, row.origin, row.flags,
              row.stack);
        }
        count += block.size();
        return count < 3000;
      }));
    }
  }

  void system() {
    rows(reader_.events(), [&](const Event& row) { add(row.name, row.has_weight); });
    rows(reader_.processes(), [&](const Process& row) {
      add(row.pid, row.parent_pid, row.start_ns, row.end_ns, row.name, row.command_line);
    });
    rows(reader_.threads(),
         [&](const Thread& row) { add(row.pid, row.tid, row.start_ns, row.end_ns, row.name); });
    rows(reader_.modules(), [&](const Module& row) {
      add(row.pid, row.base, row.size, row.start_ns, row.end_ns, row.path, row.build_id_kind);
      for (const std::uint8_t byte : row.build_id) {
        one(byte);
      }
    });
    rows(reader_.metadata(), [&](const MetadataEntry& row) { add(row.key, row.value); });
    rows(reader_.sources(), [&](const MergedSource& row) {
      add(row.kind, row.bytes, row.host, row.command_line, row.start_ns,
          row.wall_offset_ns.value_or(7), row.samples, row.records, row.callstacks);
    });
  }

  void names() {
    const auto names = reader_.names();
    if (!status(names)) {
      return;
    }
    for (std::uint32_t i = 0; i < names->texts.size(); ++i) {
      add(names->texts[i]);
    }
    for (const Function& row : names->functions) {
      add(row.start, row.size, row.name);
    }
    for (const InlinedCall& row : names->inlined) {
      add(row.parent);
    }
    for (const CodeLine& row : names->lines) {
      add(row.start, row.size, row.line, row.inlined);
    }
  }

  void branches() {
    const auto all = reader_.branches();
    if (status(all)) {
      for (const BranchEdge& row : all->edges) {
        add(row.event, row.from_image, row.from, row.to_image, row.to, row.type, row.count,
            row.mispredicted, row.cycles, row.head_duplicates);
      }
      for (const BranchRange& row : all->ranges) {
        add(row.event, row.image, row.begin, row.end, row.count, row.head_duplicates);
      }
    }
    status(reader_.branch_stack_count());
  }

  void waits() {
    status(reader_.intervals({}, [&](std::span<const WaitInterval> block) {
      for (const WaitInterval& row : block) {
        add(row.pid, row.tid, row.from_ns, row.to_ns, row.state, row.flags, row.waker_kind,
            row.reason, row.waker, row.stack, row.waker_stack);
      }
      return true;
    }));
    rows(reader_.wait_reasons(), [&](const std::string& row) { add(row); });
  }

  void values() {
    rows(reader_.event_value_kinds(), [&](const ValueSchema& row) {
      for (const ValueField& field : row.fields) {
        add(field.name);
      }
    });
    rows(reader_.event_value_texts(), [&](const std::string& row) { add(row); });
    status(reader_.event_values([&](std::span<const EventValue> block) {
      for (const EventValue& row : block) {
        add(row.time_ns, row.pid, row.tid, row.kind, row.stack);
        for (const std::uint64_t value : row.values) {
          one(value);
        }
      }
      return true;
    }));
  }

  void fields() {
    std::vector<StackedBranch> branches;
    status(reader_.sample_fields([&](std::span<const FieldRow> block) {
      for (const FieldRow& row : block) {
        add(row.sample, row.present);
        for (const std::uint64_t value : row.values) {
          one(value);
        }
        if (status(reader_.branch_stack(row, branches))) {
          for (const StackedBranch& branch : branches) {
            add(branch.from, branch.to, branch.flags);
          }
        }
      }
      return true;
    }));
    rows(reader_.control_groups(), [&](const ControlGroup& row) { add(row.path); });
  }

  const Reader& reader_;
  std::string text_;
};

}  // namespace stackpack::test
