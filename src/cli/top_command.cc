#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/annotated_branches.h"
#include "app/analysis/annotated_code.h"
#include "app/analysis/annotation.h"
#include "app/analysis/call_tree.h"
#include "app/analysis/hot_spots.h"
#include "app/analysis/report_plan.h"
#include "app/batch/batch_plan.h"
#include "app/convert/packed_capture.h"
#include "app/listing/source_files.h"
#include "app/merge/merge_files.h"
#include "app/symbolize/machine_sources.h"
#include "cli/annotation_table.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/name_column.h"
#include "cli/report_table.h"
#include "cli/shown_capture.h"
#include "cli/suggestion.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using app::HotSpot;
using app::HotSpots;

/// A file of a report. Those that are packed already are opened anew when they are counted, so that
/// thousands are not open at a time.
struct OpenReport {
  std::string path;
  std::optional<app::PackedCapture> capture;
  app::FileEvents events;
};

// One file is counted by its own choice, as it may find that a filter leaves nothing of that.
std::vector<OpenReport> open_all(const ReportArguments& arguments, const Messages& messages,
                                 int& exit_code) {
  const bool several = arguments.files.size() > 1;
  std::vector<OpenReport> files;
  for (const std::string& path : arguments.files) {
    ConvertProgress conversion;
    Result<app::PackedCapture> opened =
        app::PackedCapture::open(path, packing_of(arguments.capture, path, messages), &conversion);
    auto events = !opened   ? Result<app::FileEvents>(opened.error())
                  : several ? app::events_of_file(opened->reader(), arguments.query)
                            : Result<app::FileEvents>(app::FileEvents{});
    if (!events) {
      explain_unread(path, events.error(), conversion, messages);
      exit_code = std::max<int>(exit_code, exit_code_of(events.error()));
      continue;
    }
    if (!opened->is_made() && files.empty() && arguments.capture.symbolize) {
      note_missing_names(path, opened->reader(), messages);
    }
    OpenReport& file = files.emplace_back();
    file.path = path;
    file.events = std::move(*events);
    if (!several || opened->is_made()) {
      file.capture = std::move(*opened);
    }
  }
  return files;
}

app::ReportPlan plan_of(const std::vector<OpenReport>& files, app::HotSpotQuery& query,
                        HotSpots& spots) {
  if (files.size() < 2) {
    return {};
  }
  std::vector<app::FileEvents> events;
  events.reserve(files.size());
  for (const OpenReport& file : files) {
    events.push_back(file.events);
  }
  app::ReportPlan plan = app::plan_report(events, query);
  query.event_key = plan.event_key;
  query.filters.count = plan.count;
  spots.events_left_out = plan.events_left_out;
  return plan;
}

// Those of one file at once; those of several when all are known.
void tell_notices(const app::PackedCapture& capture, std::vector<std::string>& notices,
                  const std::string& path, const ReportArguments& arguments,
                  const Messages& messages) {
  notices.insert(notices.end(), capture.notices().begin(), capture.notices().end());
  if (arguments.files.size() == 1) {
    warn_of(path, notices, messages);
  } else {
    notices = notices_of(path, std::move(notices));
  }
}

// A recording of switches has their callstacks for samples: all of it is where threads leave their
// processors, and nothing says for how long.
void note_switches(const Reader& reader, const OpenReport& file, const ReportArguments& arguments,
                   const HotSpots& spots, const Messages& messages) {
  const bool unasked = arguments.query.filters.filter.events.empty();
  const bool of_switches = spots.event == "sched:sched_switch" ||
                           spots.event == "context-switches" || spots.event == "cs";
  if (unasked && of_switches && reader.has_intervals() && arguments.files.size() == 1) {
    messages.note(file.path, fmt::format("these are samples of switches, no measure of time; "
                                         "stackpack waits {} shows what threads waited for",
                                         shown_shell_word(file.path)));
  }
}

// Adds the figures of one file.
Status count_file(OpenReport& file, const ReportArguments& arguments, const Messages& messages,
                  HotSpots& spots, ReportCenter& center) {
  if (!file.capture) {
    Result<app::PackedCapture> opened =
        app::PackedCapture::open(file.path, packing_of(arguments.capture, file.path, messages));
    if (!opened) {
      return opened.error();
    }
    file.capture = std::move(*opened);
  }
  const app::PackedCapture capture = std::move(*file.capture);
  file.capture.reset();
  const Reader& reader = capture.reader();
  app::HotSpotQuery query = arguments.query;
  query.linkage_names = arguments.names == app::FunctionNames::kLinkage;
  // Those of several files are one row where they are alike.
  query.most_callstacks =
      arguments.files.size() == 1 && arguments.only.empty() ? arguments.rows : 0;
  if (arguments.kind == ReportKind::kTop) {
    Result<HotSpots> counted = app::hot_spots(reader, query);
    if (!counted) {
      return counted.error();
    }
    note_switches(reader, file, arguments, *counted, messages);
    // Rows of sources have numbers of their file: those of two files are not the same source.
    if (query.by == app::HotSpotKind::kSource && arguments.files.size() > 1) {
      for (HotSpot& row : counted->rows) {
        row.name = file.path + ": " + row.name;
      }
    }
    tell_notices(capture, counted->notices, file.path, arguments, messages);
    spots.add(std::move(*counted));
    return {};
  }
  auto counted =
      app::neighbours(reader, query, arguments.function,
                      arguments.kind == ReportKind::kCallers ? app::NeighbourSide::kCallers
                                                             : app::NeighbourSide::kCallees);
  if (!counted) {
    return counted.error();
  }
  tell_notices(capture, counted->around.notices, file.path, arguments, messages);
  spots.add(counted->around);
  center = {counted->center, counted->matches, counted->occurring};
  return {};
}

int run_tree(const ReportArguments& arguments, const Messages& messages) {
  if (arguments.files.size() != 1) {
    messages.error("top", "--tree is of one file; stackpack merge makes one of several");
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  std::vector<OpenReport> files = open_all(arguments, messages, exit_code);
  if (files.empty()) {
    return exit_code;
  }
  app::HotSpotQuery query = arguments.query;
  query.linkage_names = arguments.names == app::FunctionNames::kLinkage;
  Result<app::CallTree> tree =
      app::call_tree(files.front().capture->reader(), query, arguments.rows);
  if (!tree) {
    messages.error(files.front().path, tree.error());
    return exit_code_of(tree.error());
  }
  tell_notices(*files.front().capture, tree->about.notices, files.front().path, arguments,
               messages);
  std::string text;
  if (arguments.json) {
    append_tree_json(text, *tree, arguments);
  } else {
    append_tree_table(text, *tree, arguments);
  }
  return print(text, messages);
}

// Of functions with code whose source lines cannot be shown.
Status add_instructions(const Reader& reader, const app::HotSpotQuery& query,
                        const CaptureArguments& capture, app::SourceFiles& sources,
                        app::Annotation& annotation) {
  app::CodePlaces places{capture.naming.places, capture.naming.unconfined};
  if (!places.files.has_root) {
    const std::vector<std::string> caches = app::caches_of_this_machine();
    places.files.directories.insert(places.files.directories.end(), caches.begin(), caches.end());
  }
  const auto lacks_source = [&sources](const app::AnnotatedFunction& function) {
    return std::any_of(function.places.begin(), function.places.end(),
                       [&sources](const app::AnnotatedPlace& place) {
                         return place.file.empty() || sources.lines_of(place.file) == nullptr;
                       });
  };
  return app::add_code(reader, query, places, lacks_source, annotation);
}

int run_annotate(const ReportArguments& arguments, const Messages& messages) {
  if (arguments.files.size() != 1 || arguments.tree) {
    messages.error("top", "--annotate is of one file, and goes without --tree");
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  std::vector<OpenReport> files = open_all(arguments, messages, exit_code);
  if (files.empty()) {
    return exit_code;
  }
  app::HotSpotQuery query = arguments.query;
  query.linkage_names = arguments.names == app::FunctionNames::kLinkage;
  Result<app::Annotation> annotation =
      app::annotate(files.front().capture->reader(), query, arguments.annotate);
  if (!annotation) {
    messages.error(files.front().path, annotation.error());
    return exit_code_of(annotation.error());
  }
  if (annotation->functions.empty()) {
    messages.error(files.front().path, no_such_function(arguments.annotate, annotation->occurring));
    return kExitUsage;
  }
  tell_notices(*files.front().capture, annotation->about.notices, files.front().path, arguments,
               messages);
  std::vector<std::string> folders = arguments.source_folders;
  if (folders.empty()) {
    folders.emplace_back(".");
  }
  app::SourceFiles sources(std::move(folders), arguments.capture.root());
  const Status added = add_instructions(files.front().capture->reader(), query, arguments.capture,
                                        sources, *annotation);
  if (!added) {
    messages.error(files.front().path, added.error());
    return exit_code_of(added.error());
  }
  const Status counted = app::add_branches(files.front().capture->reader(), *annotation);
  if (!counted) {
    messages.error(files.front().path, counted.error());
    return exit_code_of(counted.error());
  }
  std::string text;
  if (arguments.json) {
    append_annotation_json(text, *annotation, arguments, sources);
  } else {
    append_annotation(text, *annotation, arguments, sources, output_has_colours());
  }
  return print(text, messages);
}

// The files that the arguments stand for: those of lists, and of folders all that are below.
bool find_files(ReportArguments& arguments, const Messages& messages, int& exit_code) {
  if (!arguments.files_from.empty()) {
    const Result<std::vector<std::string>> listed = app::read_file_list(arguments.files_from);
    if (!listed) {
      messages.error(arguments.files_from, listed.error());
      exit_code = exit_code_of(listed.error());
      return false;
    }
    arguments.files.insert(arguments.files.end(), listed->begin(), listed->end());
  }
  Result<std::vector<std::string>> files = app::files_to_merge(arguments.files);
  if (!files) {
    Error error = files.error();
    const std::string& folder = arguments.files[error.part];
    error.part = kMainPart;
    messages.error(folder, error);
    exit_code = exit_code_of(error);
    return false;
  }
  if (files->empty()) {
    messages.error("top", arguments.files.empty() ? "no files given"
                                                  : "no .spk file or capture in these folders");
    exit_code = kExitUsage;
    return false;
  }
  arguments.files = std::move(*files);
  return true;
}

// Whether functions say what is counted or shown, whatever the rows are.
bool asks_for_functions(const ReportArguments& arguments) {
  return arguments.kind != ReportKind::kTop || !arguments.query.patterns.empty() ||
         !arguments.annotate.empty() || !arguments.only.empty() || arguments.tree;
}

// Rows of threads and events have no function in them: naming takes two thirds of the time.
bool needs_names(const ReportArguments& arguments) {
  switch (arguments.query.by) {
    case app::HotSpotKind::kProcess:
    case app::HotSpotKind::kThread:
    case app::HotSpotKind::kComm:
    case app::HotSpotKind::kPool:
    case app::HotSpotKind::kEvent:
    case app::HotSpotKind::kControlGroup:
    case app::HotSpotKind::kField:
      return asks_for_functions(arguments);
    default:
      return true;
  }
}

// Rows of modules have none either, but where code was made at run time its names say so.
bool needs_names_of_images(const ReportArguments& arguments) {
  const bool by_module = arguments.query.by == app::HotSpotKind::kModule ||
                         arguments.query.by == app::HotSpotKind::kPackage;
  return !by_module || asks_for_functions(arguments);
}

// Whether rows say where in the sources something is. Reading that takes a third of the time.
bool needs_lines(const ReportArguments& arguments) {
  switch (arguments.query.by) {
    case app::HotSpotKind::kFunction:
    case app::HotSpotKind::kModule:
    case app::HotSpotKind::kPackage:
    case app::HotSpotKind::kThread:
    case app::HotSpotKind::kProcess:
      return !arguments.annotate.empty();
    default:
      return true;
  }
}

// The samples whose callstacks are named: those that are shown. Waits and shares of the clock are
// made of others, too.
SampleFilter samples_of_names(const ExportOptions& options) {
  SampleFilter filter = options.filter;
  const bool are_recorded = filter.events.empty() && filter.wait_detail == WaitDetail::kNone;
  filter.idle = IdleSamples::kKeep;
  return are_recorded ? filter : SampleFilter{};
}

int print_report(HotSpots& spots, const ReportArguments& arguments, const ReportCenter& center,
                 const Messages& messages) {
  app::sort_hot_spots(spots.rows, arguments.by_self);
  std::string text;
  if (arguments.json) {
    append_report_json(text, spots, arguments, center);
  } else {
    append_report_table(text, spots, arguments, center);
  }
  return print(text, messages);
}

}  // namespace

int run_report(const ReportArguments& asked, const Messages& messages) {
  ReportArguments arguments = asked;
  arguments.query = app::with_wait_event(std::move(arguments.query));
  arguments.capture.symbolize = arguments.capture.symbolize && needs_names(arguments);
  arguments.capture.naming.images = needs_names_of_images(arguments);
  arguments.capture.naming.lines = needs_lines(arguments);
  arguments.capture.naming.shown = samples_of_names(arguments.query.filters);
  if (int failed = kExitSuccess; arguments.kind == ReportKind::kTop) {
    if (!find_files(arguments, messages, failed)) {
      return failed;
    }
    if (!arguments.annotate.empty()) {
      return run_annotate(arguments, messages);
    }
    if (arguments.tree) {
      return run_tree(arguments, messages);
    }
  }
  HotSpots spots;
  ReportCenter center;
  int exit_code = kExitSuccess;
  bool any = false;
  std::vector<OpenReport> files = open_all(arguments, messages, exit_code);
  const app::ReportPlan plan = plan_of(files, arguments.query, spots);
  for (OpenReport& file : files) {
    if (!plan.takes(file.events)) {
      messages.note(file.path, fmt::format("not counted: it has no {}", plan.event));
      continue;
    }
    const Status counted = count_file(file, arguments, messages, spots, center);
    if (counted) {
      any = true;
    } else {
      messages.error(file.path, counted.error());
      exit_code = std::max<int>(exit_code, exit_code_of(counted.error()));
    }
  }
  if (!any) {
    return exit_code;
  }
  if (arguments.files.size() > 1) {
    warn_of("top", spots.notices, messages);
  }
  spots.event = plan.event.empty() ? spots.event : plan.event;
  if (!center.occurring.empty()) {
    messages.error(arguments.files.front(), no_such_function(arguments.function, center.occurring));
    return kExitUsage;
  }
  if (const Status kept = app::keep_functions(spots.rows, arguments.only); !kept) {
    messages.error("top", kept.error());
    return exit_code_of(kept.error());
  }
  return std::max(exit_code, print_report(spots, arguments, center, messages));
}

}  // namespace stackpack::cli
