// What a capture is, which questions it answers and what it lacks, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/listing/capture_facts.h"
#include "cli/arguments.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::cli {

struct InfoEvent {
  std::string name;
  std::uint64_t samples = 0;
  std::uint64_t with_callstack = 0;  ///< of more than an instruction pointer
};

/// A question that a capture may answer.
struct InfoQuestion {
  std::string_view about;
  std::vector<std::string> command;  ///< without the program's name
  std::string record;                ///< how a capture is recorded that answers it; may be empty
};

struct InfoReport {
  std::string kind;  ///< of the capture
  std::uint64_t capture_bytes = 0;
  app::CaptureFacts facts;
  std::uint64_t samples = 0;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::vector<InfoEvent> events;        ///< most samples first
  std::optional<double> named;          ///< share of the samples that are in functions with names
  std::vector<InfoQuestion> questions;  ///< the best first
  std::vector<InfoQuestion> lacks;
};

/// `file`: as it was asked for, for the commands.
/// Errors: those of the reader. Cost: a pass over samples and values of events.
Result<InfoReport> info_report(const Reader& reader, const std::string& file);

void append_info_table(std::string& out, const InfoReport& report, std::size_t most_events);
void append_info_json(std::string& out, const InfoReport& report,
                      const EventReportArguments& arguments);

}  // namespace stackpack::cli
