// Every plain figure of the statistics, once: summary section, sums over files and JSON follow from
// this list.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stackpack/stats.h"

namespace stackpack::core {

/// What becomes of a figure when files are taken together.
enum class FigureSum : std::uint8_t { kAdd, kHighest };

/// One figure. `group` and `name` are its key in stats --json: GROUP.NAME, or NAME without a group.
struct Figure {
  std::string_view group;
  std::string_view name;
  std::uint64_t& (*in)(Statistics&);
  const std::uint64_t& (*of)(const Statistics&);
  FigureSum sum = FigureSum::kAdd;
};

/// The two accesses of a figure by way of a generic lambda without captures.
template <typename Member>
struct FigureAccess {
  static std::uint64_t& in(Statistics& statistics) { return Member{}(statistics); }
  static const std::uint64_t& of(const Statistics& statistics) { return Member{}(statistics); }
};

/// `member`: a generic lambda that gives the member of a Statistics, const or not.
template <typename Member>
constexpr Figure figure(std::string_view group, std::string_view name, Member /*member*/,
                        FigureSum sum = FigureSum::kAdd) {
  return {group, name, &FigureAccess<Member>::in, &FigureAccess<Member>::of, sum};
}

/// In the order of the numbers in the summary section (docs/format.md), without number 16.
inline constexpr std::array kFigures{
    figure(
        "source", "bytes", [](auto& s) -> auto& { return s.source_bytes; }),
    figure(
        "samples", "total", [](auto& s) -> auto& { return s.samples.total; }),
    figure(
        "samples", "recorded", [](auto& s) -> auto& { return s.samples.recorded; }),
    figure(
        "samples", "ip_only", [](auto& s) -> auto& { return s.samples.ip_only; }),
    figure(
        "samples", "none", [](auto& s) -> auto& { return s.samples.none; }),
    figure(
        "samples", "empty_chains", [](auto& s) -> auto& { return s.samples.empty_chains; }),
    figure(
        "samples", "stack_dump_only", [](auto& s) -> auto& { return s.samples.stack_dump_only; }),
    figure(
        "callstacks", "raw_frames", [](auto& s) -> auto& { return s.callstacks.raw_frames; }),
    figure(
        "callstacks", "unique", [](auto& s) -> auto& { return s.callstacks.unique; }),
    figure(
        "callstacks", "unique_frames", [](auto& s) -> auto& { return s.callstacks.unique_frames; }),
    figure(
        "callstacks", "unique_leaf_frames",
        [](auto& s) -> auto& { return s.callstacks.unique_leaf_frames; }),
    figure(
        "callstacks", "max_depth", [](auto& s) -> auto& { return s.callstacks.max_depth; },
        FigureSum::kHighest),
    figure(
        "callstacks", "stored", [](auto& s) -> auto& { return s.callstacks.stored; }),
    figure(
        "dag", "nodes", [](auto& s) -> auto& { return s.dag.nodes; }),
    figure(
        "dag", "distinct_frames", [](auto& s) -> auto& { return s.dag.distinct_frames; }),
    figure(
        "dag", "pages", [](auto& s) -> auto& { return s.dag.pages; }),
    figure(
        "dag", "stored_bytes", [](auto& s) -> auto& { return s.dag.stored_bytes; }),
    figure(
        "sample_stream", "stored_bytes", [](auto& s) -> auto& { return s.sample_stream_bytes; }),
    figure(
        "builder", "lookups", [](auto& s) -> auto& { return s.builder.lookups; }),
    figure(
        "builder", "probes", [](auto& s) -> auto& { return s.builder.probes; }),
    figure(
        "builder", "frames", [](auto& s) -> auto& { return s.builder.frames; }),
    figure(
        "builder", "prefix_frames", [](auto& s) -> auto& { return s.builder.prefix_frames; }),
    figure(
        "builder", "map_bytes", [](auto& s) -> auto& { return s.builder.map_bytes; }),
    figure(
        "builder", "segments", [](auto& s) -> auto& { return s.builder.segments; }),
    figure(
        "", "processes", [](auto& s) -> auto& { return s.processes; }),
    figure(
        "", "threads", [](auto& s) -> auto& { return s.threads; }),
    figure(
        "", "modules", [](auto& s) -> auto& { return s.modules; }),
    figure(
        "source", "parsed", [](auto& s) -> auto& { return s.source_parsed_bytes; }),
    figure(
        "source", "padding", [](auto& s) -> auto& { return s.source_padding_bytes; }),
    figure(
        "source", "skipped", [](auto& s) -> auto& { return s.source_skipped_bytes; }),
    figure(
        "samples", "records", [](auto& s) -> auto& { return s.samples.records; }),
    figure(
        "samples", "unwound", [](auto& s) -> auto& { return s.samples.unwound; }),
};

}  // namespace stackpack::core
