#include <algorithm>
#include <array>

#include "export/job/export_job.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "query/selection/capture_view.h"
#include "query/selection/wait_events.h"
#include "stackpack/export.h"

namespace stackpack {

namespace {

using exporting::ExportJob;
using exporting::ExportOutput;

Status encode(ExportJob& job, ExportOutput& out) {
  switch (job.options.format) {
    case ExportFormat::kFolded:
      return exporting::write_folded(job, out);
    case ExportFormat::kPprof:
      return exporting::write_pprof(job, out);
    case ExportFormat::kSpeedscope:
      return exporting::write_speedscope(job, out);
    case ExportFormat::kFirefox:
      return exporting::write_firefox(job, out);
    case ExportFormat::kOtlp:
      return exporting::write_otlp(job, out);
    case ExportFormat::kPerfetto:
      return exporting::write_perfetto(job, out);
    case ExportFormat::kHtml:
      return exporting::write_html(job, out);
    case ExportFormat::kCpuprofile:
      return exporting::write_cpuprofile(job, out);
    case ExportFormat::kCsv:
      break;
  }
  return Error{ErrorCode::kUsage, kNoOffset, "export: no such format"};
}

bool is_compressed(ExportFormat format) {
  return format == ExportFormat::kPprof || format == ExportFormat::kFirefox;
}

// Checked before anything is written, so that an error leaves no output behind, not even an empty
// one on standard output.
Status check_not_empty(query::SampleSelection& selection, ExportFormat format) {
  bool any = false;
  const Error enough{ErrorCode::kCancelled, kNoOffset, "export: one sample is enough"};
  const Status status = selection.for_each([&](std::span<const query::SelectedSample>) {
    any = true;
    return Status{enough};
  });
  // A page says that threads were idle.
  if (any || (format == ExportFormat::kHtml && selection.idle_left_out().samples != 0)) {
    return {};
  }
  if (status && selection.choose_next_event()) {
    return check_not_empty(selection, format);
  }
  return status ? Status{Error{ErrorCode::kUsage, kNoOffset,
                               "export: no sample of the file is selected by these filters"}}
                : status;
}

Result<io::OutputRules> rules_for(const ExportOptions& options) {
  io::OutputRules rules;
  rules.force = options.force;
  if (!options.source_path.empty()) {
    if (const Status added = io::add_inputs(rules, {&options.source_path, 1}); !added) {
      return added.error();
    }
  }
  return rules;
}

Status write_file(ExportJob& job, const std::string& output, const io::OutputRules& rules) {
  auto file = io::OutputFile::create(output, rules);
  if (!file) {
    return file.error();
  }
  ExportOutput out(**file, is_compressed(job.options.format) ? ExportOutput::Coding::kGzip
                                                             : ExportOutput::Coding::kPlain);
  if (const Status status = encode(job, out); !status) {
    return status;
  }
  if (const Status status = out.finish(); !status) {
    return status;
  }
  job.report.output_bytes = (*file)->offset();
  return (*file)->commit();
}

Status write_directory(ExportJob& job, const std::string& output) {
  if (output == "-") {
    return Error{ErrorCode::kUsage, kNoOffset, "export: csv is several files; name a directory"};
  }
  const std::vector<std::string> made = io::missing_directories(output);
  Status status = io::make_directories(output);
  if (status) {
    status = exporting::write_csv(job, output);
  }
  if (!status) {
    io::remove_empty_directories(made);
  }
  return status;
}

}  // namespace

Result<ExportReport> export_capture(const Reader& reader, const std::string& output,
                                    const ExportOptions& asked) {
  ExportOptions options = asked;
  options.filter = asked.all_events ? asked.filter : query::with_wait_event(asked.filter);
  const io::FilesRead files_read;
  const Result<io::OutputRules> rules = rules_for(options);
  if (!rules) {
    return rules.error();
  }
  const bool is_folder = options.format == ExportFormat::kCsv;
  if (const Status allowed =
          is_folder ? io::check_output_directory(output, *rules) : io::check_output(output, *rules);
      !allowed) {
    return allowed.error();
  }
  const auto view = query::view_for(reader, options.filter);
  if (!view) {
    return view.error();
  }
  auto selection = query::SampleSelection::create(
      *view, options,
      {.numbers = options.format == ExportFormat::kOtlp && view->label_sets != nullptr,
       .labels = options.format == ExportFormat::kPprof || options.format == ExportFormat::kHtml,
       .event_key = {}});
  if (!selection) {
    return selection.error();
  }
  // A page says itself that a capture has no samples.
  const bool may_be_empty = options.format == ExportFormat::kHtml && options.filter.empty();
  if (const Status status = may_be_empty ? Status{} : check_not_empty(**selection, options.format);
      !status) {
    return status.error();
  }
  std::string scratch = output == "-" ? io::temporary_directory() : io::directory_of(output);
  ExportJob job{**selection, options, std::move(scratch), *rules};
  job.reader = &reader;
  // What takes memory goes before the output is there: an error must find the old one untouched.
  const query::EventChoice& choice = (*selection)->choice();
  if (choice.is_chosen()) {
    job.report.event = choice.name_of(choice.main_event());
    job.report.other_events = choice.left_out();
  }
  job.report.unit = choice.measure_of(choice.main_event()).unit;
  const Status status = is_folder ? write_directory(job, output) : write_file(job, output, *rules);
  if (!status) {
    return status.error();
  }
  job.report.idle = (*selection)->idle_left_out();
  return std::move(job.report);
}

// The names of formats.

namespace {

constexpr std::array<std::string_view, 9> kFormatNames = {
    "folded", "pprof", "speedscope", "firefox", "otlp", "csv", "html", "perfetto", "cpuprofile"};

}  // namespace

std::span<const std::string_view> export_format_names() {
  return kFormatNames;
}

std::optional<ExportFormat> export_format_of(std::string_view name) {
  const auto found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  if (found == kFormatNames.end()) {
    return std::nullopt;
  }
  return static_cast<ExportFormat>(found - kFormatNames.begin());
}

}  // namespace stackpack
