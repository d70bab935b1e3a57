// Every field that a SAMPLE can have, with a value that tests know.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/perf/attr.h"
#include "support/perf_writer.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// The instruction pointer of sample_of().
inline constexpr std::uint64_t kSampleIp = 0x401000;

/// One of them. They are in the order of the format.
struct FieldCase {
  std::string name;
  std::uint64_t bit;
  std::function<void(TestBytes&)> write;
};

inline const std::vector<FieldCase>& all_fields() {
  static const std::vector<FieldCase> fields = {
      {"IDENTIFIER", perf::sample_bit::kIdentifier, [](TestBytes& b) { b.u64(77); }},
      {"IP", perf::sample_bit::kIp, [](TestBytes& b) { b.u64(kSampleIp); }},
      {"TID", perf::sample_bit::kTid, [](TestBytes& b) { b.u32(11).u32(12); }},
      {"TIME", perf::sample_bit::kTime, [](TestBytes& b) { b.u64(13); }},
      {"ADDR", perf::sample_bit::kAddr, [](TestBytes& b) { b.u64(14); }},
      {"ID", perf::sample_bit::kId, [](TestBytes& b) { b.u64(77); }},
      {"STREAM_ID", perf::sample_bit::kStreamId, [](TestBytes& b) { b.u64(15); }},
      {"CPU", perf::sample_bit::kCpu, [](TestBytes& b) { b.u32(16).u32(0); }},
      {"PERIOD", perf::sample_bit::kPeriod, [](TestBytes& b) { b.u64(17); }},
      {"READ", perf::sample_bit::kRead, [](TestBytes& b) { b.u64(18); }},
      {"CALLCHAIN", perf::sample_bit::kCallchain,
       [](TestBytes& b) { b.u64(3).u64(kContextUser).u64(kSampleIp).u64(0x402000); }},
      {"RAW", perf::sample_bit::kRaw, [](TestBytes& b) { b.u32(12).zeros(12); }},
      {"BRANCH_STACK", perf::sample_bit::kBranchStack, [](TestBytes& b) { b.u64(2).zeros(48); }},
      {"REGS_USER", perf::sample_bit::kRegsUser,
       [](TestBytes& b) { b.u64(2).u64(21).u64(22).u64(23); }},
      {"STACK_USER", perf::sample_bit::kStackUser,
       [](TestBytes& b) { b.u64(16).text("abcdefghijklmnop").u64(8); }},
      {"WEIGHT", perf::sample_bit::kWeight, [](TestBytes& b) { b.u64(24); }},
      {"DATA_SRC", perf::sample_bit::kDataSrc, [](TestBytes& b) { b.u64(25); }},
      {"TRANSACTION", perf::sample_bit::kTransaction, [](TestBytes& b) { b.u64(26); }},
      {"REGS_INTR", perf::sample_bit::kRegsIntr, [](TestBytes& b) { b.u64(1).u64(27); }},
      {"PHYS_ADDR", perf::sample_bit::kPhysAddr, [](TestBytes& b) { b.u64(28); }},
      {"CGROUP", perf::sample_bit::kCgroup, [](TestBytes& b) { b.u64(29); }},
      {"DATA_PAGE_SIZE", perf::sample_bit::kDataPageSize, [](TestBytes& b) { b.u64(30); }},
      {"CODE_PAGE_SIZE", perf::sample_bit::kCodePageSize, [](TestBytes& b) { b.u64(31); }},
      {"AUX", perf::sample_bit::kAux, [](TestBytes& b) { b.u64(5).text("12345"); }},
      {"WEIGHT_STRUCT", perf::sample_bit::kWeightStruct, [](TestBytes& b) { b.u64(24); }},
  };
  return fields;
}

/// The payload of a sample with these fields; registers as in masks of three and one.
inline TestBytes sample_of(std::uint64_t sample_type, bytes::ByteOrder order) {
  TestBytes out(order);
  for (const FieldCase& field : all_fields()) {
    const bool weight_again = field.bit == perf::sample_bit::kWeightStruct;
    if ((sample_type & field.bit) == 0 || weight_again) {
      continue;
    }
    field.write(out);
  }
  return out;
}

}  // namespace stackpack::test
