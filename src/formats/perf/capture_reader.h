#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/perf/capture_context.h"
#include "formats/perf/file_header.h"
#include "formats/perf/namespace_values.h"
#include "formats/perf/perf_input.h"
#include "formats/perf/record_converter.h"
#include "formats/perf/section_account.h"
#include "formats/perf/switch_events.h"
#include "formats/perf/tracepoint_values.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Reads one capture: finds its header, attributes, features and records, whatever the container.
class CaptureReader {
 public:
  CaptureReader(capture::CallstackSink& sink, const capture::ReadControl& control,
                capture::DumpUnwinder* unwinder = nullptr)
      : context_{sink, control},
        switches_(sink),
        tracepoints_(sink.values()),
        namespaces_(sink.values()),
        converter_(context_) {
    context_.tracepoints = tracepoints_.active() ? &tracepoints_ : nullptr;
    context_.namespaces = namespaces_.active() ? &namespaces_ : nullptr;
    context_.switches = switches_.active() ? &switches_ : nullptr;
    context_.unwinder = unwinder;
  }

  /// Passes samples over: facts about processes and images alone. Before run().
  void leave_out_samples() { context_.without_samples = true; }

  /// Call once. As read_capture().
  Result<capture::ByteAccount> run(Input& input);

 private:
  Status read_pipe(io::ByteSource& source);
  Status read_file(io::ByteSource& source, const FileMagic& magic);
  Status read_attributes(io::ByteSource& source, const FileHeader& header);
  Status read_attribute(io::ByteSource& source, const FileSection& entry);
  Status read_ids(io::ByteSource& source, const FileSection& section, std::vector<std::byte>& ids);
  Status read_features(io::ByteSource& source, const FileHeader& header);
  Status read_feature(io::ByteSource& source, std::uint32_t feature, const FileSection& section);
  Status read_tracing_data(io::ByteSource& source, const FileSection& section);
  Status read_symbol_files(io::ByteSource& source, std::uint32_t feature,
                           const FileSection& section);
  Status read_section(io::ByteSource& source, const FileSection& data, bool whole);
  Status read_in_turns(io::ByteSource& source, const FileSection& data, bool whole);
  Status account_for_sections(io::ByteSource& source, const FileSection& data, bool whole);
  Status read_part(Input::Part& part);

  std::span<Input::Part> parts_;  // that are still to be read
  CaptureContext context_;
  SwitchEvents switches_;
  TracepointValues tracepoints_;
  NamespaceValues namespaces_;
  RecordConverter converter_;
  SectionAccount sections_{context_.order};
  std::vector<std::pair<std::uint32_t, FileSection>> symbol_files_;  // by feature
  std::uint64_t file_bytes_ = 0;
};

}  // namespace stackpack::perf
