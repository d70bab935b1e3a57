// The statistics of a .spk file, as kept in its summary section: what `stackpack stats` prints.
//
// Counts and bytes, as the writer knew them; plain values that the holder owns. A figure that a
// file of an older version does not have is 0, an empty text or no row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/model.h"

namespace stackpack {

/// One section of a .spk file. The stored bytes of all sections add up to the file.
struct SectionInfo {
  std::string name;
  std::uint64_t raw_bytes = 0;     ///< before compression
  std::uint64_t stored_bytes = 0;  ///< in the file, frame headers included
};

/// Samples of one event.
struct EventCount {
  std::string name;
  std::uint64_t samples = 0;
};

/// Bytes of a capture that were passed over for one reason.
struct SkippedBytesCount {
  std::string reason;
  std::uint64_t bytes = 0;
};

/// See docs/cli.md for what `stats --json` calls them, and for the figures derived from them.
struct Statistics {
  std::string source_kind;         ///< "perf", "etl", ...
  std::uint64_t source_bytes = 0;  ///< of the capture
  // Where they went; the three add up to source_bytes. 0 in files of older writers.
  std::uint64_t source_parsed_bytes = 0;   ///< headers and records that were understood
  std::uint64_t source_padding_bytes = 0;  ///< unused space which the format provides for
  std::uint64_t source_skipped_bytes = 0;  ///< not understood, or of no use
  /// source_skipped_bytes by reason, by name; only reasons that apply. Empty in files of older
  /// writers.
  std::vector<SkippedBytesCount> source_skipped_by_reason;

  /// By where their callstacks come from, see StackOrigin; recorded, ip_only and none add up.
  struct {
    std::uint64_t total = 0;
    /// Of the capture. One record of a group of counters gives a sample for each that advanced.
    std::uint64_t records = 0;
    std::uint64_t recorded = 0;  ///< with a chain: more than an instruction pointer
    std::uint64_t unwound = 0;   ///< of `recorded`: with user frames that were unwound from a dump
    std::uint64_t ip_only = 0;
    std::uint64_t none = 0;
    std::uint64_t empty_chains = 0;     ///< a chain was recorded, without a frame
    std::uint64_t stack_dump_only = 0;  ///< no user frames, but a register and stack dump
  } samples;

  /// Recorded callstacks; those made of an instruction pointer alone are not among them.
  struct {
    std::uint64_t raw_frames = 0;          ///< frames of all recorded samples
    std::uint64_t unique = 0;              ///< distinct recorded callstacks
    std::uint64_t unique_frames = 0;       ///< their frames in all
    std::uint64_t unique_leaf_frames = 0;  ///< distinct frames at their leaves
    std::uint64_t max_depth = 0;
    std::uint64_t stored = 0;  ///< stack ids in the file, ip-only ones included
  } callstacks;

  /// The tree of all callstacks, as it is stored.
  struct {
    std::uint64_t nodes = 0;  ///< without the root
    std::uint64_t distinct_frames = 0;
    std::uint64_t pages = 0;
    std::uint64_t stored_bytes = 0;  ///< all that it takes to decode callstacks
  } dag;

  std::uint64_t sample_stream_bytes = 0;  ///< stored, with their index; 0 without samples

  /// What it cost to find the callstacks that are alike. Depends on the version that converted.
  struct {
    std::uint64_t lookups = 0;
    std::uint64_t probes = 0;
    std::uint64_t frames = 0;
    std::uint64_t prefix_frames = 0;  ///< found without a look-up, in a recent callstack
    std::uint64_t map_bytes = 0;
    std::uint64_t segments = 0;
  } builder;

  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::uint64_t modules = 0;
  std::vector<EventCount> events;   ///< in the order of the event table
  std::vector<LossCounter> losses;  ///< by name
};

}  // namespace stackpack
