// What samples say besides their callstacks: the address of the access to memory that was sampled,
// where its data came from and how long it took, sizes of pages, the control group. See
// docs/memory.md; docs/format.md, section 7, for how they are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stackpack {

/// A field of samples. Its number is its bit in FieldRow::present, and its place among the columns
/// of the file.
enum class SampleField : std::uint8_t {
  kAddress = 0,             ///< of the data that was accessed, or of a fault
  kWeight = 1,              ///< of an access: its latency, in cycles
  kInstructionLatency = 2,  ///< from dispatch to retirement, cycles
  kStageLatency = 3,        ///< x86: retirement latency; POWER: cycles in a stage of the pipeline
  kDataSource = 4,          ///< what, from where, how: perf_mem_data_src of linux/perf_event.h
  kTransaction = 5,         ///< PERF_TXN_* of linux/perf_event.h
  kPhysicalAddress = 6,     ///< of the data
  kDataPageSize = 7,        ///< bytes of the page that has the data
  kCodePageSize = 8,        ///< bytes of the page that has the instruction
  kControlGroup = 9,        ///< row of Reader::control_groups()
  kBranchStack = 10,        ///< see Reader::branch_stack(): the branches
  kBranchCycles = 11,       ///< and the cycles between them
  kLabelSet = 12,           ///< row of Reader::label_sets()
};
inline constexpr std::size_t kSampleFieldCount = 13;
/// The first so many are figures; those after them name something that is listed apart.
inline constexpr std::size_t kFigureFieldCount = 10;

/// A control group (cgroup) of Linux: a container, a service.
struct ControlGroup {
  std::uint64_t id = 0;  ///< that of the kernel
  std::string path;      ///< from the root of control groups on; empty: not recorded

  friend bool operator==(const ControlGroup&, const ControlGroup&) = default;
};

/// The fields of a sample.
struct FieldRow {
  std::uint64_t sample = 0;   ///< its number in the order of Reader::samples(), from 0 on
  std::uint32_t present = 0;  ///< bits of the fields that were recorded
  std::array<std::uint64_t, kSampleFieldCount> values{};  ///< 0 where they were not

  [[nodiscard]] bool has(SampleField field) const {
    return (present >> static_cast<unsigned>(field) & 1U) != 0;
  }
  [[nodiscard]] bool has_figures() const {
    return (present & ((1U << kFigureFieldCount) - 1)) != 0;
  }
  [[nodiscard]] std::uint64_t value(SampleField field) const {
    return values[static_cast<std::size_t>(field)];
  }
  void clear(SampleField field) {
    present &= ~(1U << static_cast<unsigned>(field));
    values[static_cast<std::size_t>(field)] = 0;
  }
  void set(SampleField field, std::uint64_t value) {
    present |= 1U << static_cast<unsigned>(field);
    values[static_cast<std::size_t>(field)] = value;
  }

  friend bool operator==(const FieldRow&, const FieldRow&) = default;
};

}  // namespace stackpack
