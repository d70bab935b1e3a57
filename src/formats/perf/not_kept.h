// What a capture has and a .spk file does not keep. Law: each such field of samples, type of record
// and feature section is a notice with a count and a first offset, and its bytes are passed over
// for a reason of their own. A field or type that becomes kept leaves its table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/loss_counters.h"
#include "formats/perf/attr.h"
#include "formats/perf/record.h"

namespace stackpack::perf {

/// What may be counted under a name, by a number that the format gives it.
struct NotKept {
  std::uint64_t number;
  std::string_view loss;
};

/// Bits for what has none in sample_type.
namespace extra_bit {
/// Counters of BRANCH_STACK.
inline constexpr std::uint64_t kBranchCounters = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kExactIp = std::uint64_t{1} << 62;    ///< whether IP has no skid
inline constexpr std::uint64_t kReadTimes = std::uint64_t{1} << 63;  ///< times of READ
}  // namespace extra_bit

/// Fields of SAMPLE, by their bits.
inline constexpr NotKept kFieldsNotKept[] = {
    {sample_bit::kAddr, "sample_fields_not_kept.addr"},
    {sample_bit::kRead, "sample_fields_not_kept.read"},
    {sample_bit::kStreamId, "sample_fields_not_kept.stream_id"},
    {sample_bit::kRaw, "sample_fields_not_kept.raw"},
    {sample_bit::kBranchStack, "sample_fields_not_kept.branch_stack"},
    {sample_bit::kRegsUser, "sample_fields_not_kept.regs_user"},
    {sample_bit::kStackUser, "sample_fields_not_kept.stack_user"},
    {sample_bit::kWeight, "sample_fields_not_kept.weight"},
    {sample_bit::kDataSrc, "sample_fields_not_kept.data_src"},
    {sample_bit::kTransaction, "sample_fields_not_kept.transaction"},
    {sample_bit::kRegsIntr, "sample_fields_not_kept.regs_intr"},
    {sample_bit::kPhysAddr, "sample_fields_not_kept.phys_addr"},
    {sample_bit::kAux, "sample_fields_not_kept.aux"},
    {sample_bit::kCgroup, "sample_fields_not_kept.cgroup"},
    {sample_bit::kDataPageSize, "sample_fields_not_kept.data_page_size"},
    {sample_bit::kCodePageSize, "sample_fields_not_kept.code_page_size"},
    {sample_bit::kWeightStruct, "sample_fields_not_kept.weight_struct"},
    {extra_bit::kBranchCounters, "sample_fields_not_kept.branch_counters"},
    {extra_bit::kExactIp, "sample_fields_not_kept.exact_ip"},
    {extra_bit::kReadTimes, "multiplexed_counters"},
};

/// Records, by their type. Those that only mark a place in the stream hold nothing.
inline constexpr NotKept kRecordsNotKept[] = {
    {8, "records_not_kept.read"},
    {11, "records_not_kept.aux"},
    {12, "records_not_kept.itrace_start"},
    {14, "records_not_kept.switch"},
    {15, "records_not_kept.switch_cpu_wide"},
    {16, "records_not_kept.namespaces"},
    {18, "records_not_kept.bpf_event"},
    {19, "records_not_kept.cgroup"},
    {20, "records_not_kept.text_poke"},
    {21, "records_not_kept.aux_output_hw_id"},
    {65, "records_not_kept.event_type"},
    {66, "records_not_kept.tracing_data"},
    {69, "records_not_kept.id_index"},
    {70, "records_not_kept.auxtrace_info"},
    {71, "hardware_traces_not_decoded"},
    {73, "records_not_kept.thread_map"},
    {74, "records_not_kept.cpu_map"},
    {75, "records_not_kept.stat_config"},
    {76, "records_not_kept.stat"},
    {77, "records_not_kept.stat_round"},
    {78, "records_not_kept.event_update"},  // but for names
    {79, "records_not_kept.time_conv"},
    {84, "records_not_kept.bpf_metadata"},
    {85, "records_not_kept.schedstat_cpu"},
    {86, "records_not_kept.schedstat_domain"},
    {32769, "records_not_kept.simpleperf_kernel_symbol"},
    {32770, "records_not_kept.simpleperf_dso"},
    {32771, "records_not_kept.simpleperf_symbol"},
    {32772, "records_not_kept.simpleperf_split"},
    {32773, "records_not_kept.simpleperf_split_end"},
    {32775, "records_not_kept.simpleperf_callchain"},
    {32776, "records_not_kept.simpleperf_unwinding_result"},
    {32777, "records_not_kept.simpleperf_tracing_data"},
    {32778, "records_not_kept.simpleperf_debug"},
};

/// Mappings of data, which are records of the types of those of code.
inline constexpr std::string_view kDataMappingsNotKept = "records_not_kept.mmap_data";

/// Feature sections, by their bits. Those about the container itself say nothing about what is in
/// it.
inline constexpr NotKept kFeaturesNotKept[] = {
    {1, "features_not_kept.tracing_data"},
    {13, "features_not_kept.cpu_topology"},
    {14, "features_not_kept.numa_topology"},
    {15, "features_not_kept.branch_stack"},
    {16, "features_not_kept.pmu_mappings"},
    {17, "features_not_kept.group_desc"},
    {18, "features_not_kept.auxtrace"},
    {19, "features_not_kept.stat"},
    {20, "features_not_kept.cache"},
    {21, "features_not_kept.sample_time"},
    {22, "features_not_kept.mem_topology"},
    {23, "features_not_kept.clockid"},
    {25, "features_not_kept.bpf_prog_info"},
    {26, "features_not_kept.bpf_btf"},
    {28, "features_not_kept.cpu_pmu_caps"},
    {30, "features_not_kept.hybrid_topology"},
    {31, "features_not_kept.pmu_caps"},
    {32, "features_not_kept.cpu_domain_info"},
    {130, "features_not_kept.simpleperf_debug_unwind"},
    {131, "features_not_kept.simpleperf_debug_unwind_file"},
    {133, "features_not_kept.simpleperf_etm_branch_list"},
    {134, "features_not_kept.simpleperf_init_map"},
};

/// Features without a name.
inline constexpr std::string_view kOtherFeaturesNotKept = "features_not_kept.other";

/// Those fields of the samples of an attribute, as bits: what a sample has in any case, and what is
/// kept only for a use which the attribute rules out.
std::uint64_t fields_not_kept(const Attr& attr);

/// How often something was met, and where first.
struct Tally {
  std::uint64_t count = 0;
  std::uint64_t first_offset = ~std::uint64_t{0};

  void add(std::uint64_t more, std::uint64_t offset) {
    first_offset = offset < first_offset ? offset : first_offset;
    count += more;
  }
};

/// Counts records that are not kept, by type: there may be as many as samples.
class RecordTallies {
 public:
  /// `type` is a known one.
  void add(std::uint32_t type, std::uint64_t offset) { tallies_[place_of(type)].add(1, offset); }

  void report(capture::LossCounters& losses) const;

 private:
  static constexpr std::uint32_t kFirstWide = 32769;
  static constexpr std::size_t kPlain = 96;
  static constexpr std::size_t kPlaces = kPlain + 16;
  static constexpr std::size_t place_of(std::uint32_t type) {
    const std::size_t place = type < kPlain ? type : kPlain + (type - kFirstWide);
    return place < kPlaces ? place : 0;
  }

  std::array<Tally, kPlaces> tallies_{};
};

}  // namespace stackpack::perf
