#include "cli/shown_capture.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/capture_probe.h"
#include "app/symbolize/machine_sources.h"
#include "app/symbolize/symbolize.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"

namespace stackpack::cli {

namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kPause{200};

std::string text_of(const ConvertProgress& conversion) {
  const std::uint64_t total = conversion.bytes_total;
  if (total == 0 && conversion.samples == 0) {
    return "reading";
  }
  switch (conversion.stage) {
    case ConvertStage::kReading:
      return total == 0 ? fmt::format("reading, {} samples", grouped(conversion.samples))
                        : fmt::format("reading, {:.0f} % of {}",
                                      100.0 * static_cast<double>(conversion.bytes_done) /
                                          static_cast<double>(total),
                                      human_bytes(total));
    case ConvertStage::kCallstacks:
    case ConvertStage::kSamples:
    case ConvertStage::kFinishing:
      break;
  }
  return fmt::format("packing {} samples", grouped(conversion.samples));
}

void explain(const std::string& path, const Error& error, const ConvertProgress& conversion,
             const Messages& messages, int& exit_code) {
  explain_unread(path, error, conversion, messages);
  exit_code = std::max<int>(exit_code, exit_code_of(error));
}

// Whether there is code in files, and no name but those that the system's recorder adds.
bool lacks_names(const Reader& reader) {
  if (reader.statistics().modules == 0) {
    return false;
  }
  const auto metadata = reader.metadata();
  const bool imported =
      metadata && std::any_of(metadata->begin(), metadata->end(), [](const MetadataEntry& entry) {
        return entry.key == "frames.synthetic";
      });
  const Result<Names> names = reader.names();
  return !imported && names &&
         std::all_of(names->functions.begin(), names->functions.end(),
                     [](const Function& function) {
                       return function.source == FunctionSource::kUnknown ||
                              function.source == FunctionSource::kKsymbol ||
                              function.source == FunctionSource::kBpf;
                     });
}

// What is not named as whoever recorded the capture would have it: images whose file was replaced,
// and names that nothing here can read.
std::vector<std::string> notices_of_names(const app::SymbolizeReport& report) {
  const app::ImageReport* first = nullptr;
  std::size_t replaced = 0;
  std::uint64_t unread = 0;
  for (const app::ImageReport& image : report.images) {
    unread += image.unread_names;
    if (image.replaced && image.named < image.asked) {
      first = first == nullptr ? &image : first;
      ++replaced;
    }
  }
  std::vector<std::string> notices;
  if (first != nullptr) {
    notices.push_back(fmt::format("functions of {}{} have no names: {}", first->path,
                                  replaced == 1 ? "" : fmt::format(" and {} more", replaced - 1),
                                  first->reason));
  }
  if (unread != 0) {
    notices.push_back(fmt::format(
        "{} of the names are encoded in a way that this program cannot read, and stay as linked",
        unread));
  }
  return notices;
}

// Names of the kernel are there, and the system does not show them; or they are those of the kernel
// that runs, and the capture does not say that it is the recorded one.
void note_kernel(const std::string& path, const app::SymbolizeReport& report,
                 const Messages& messages) {
  for (const app::ImageReport& image : report.images) {
    if (image.path != "[kernel]" || image.reason.empty()) {
      continue;
    }
    if (image.named == 0 && image.reason.find("kptr_restrict") != std::string::npos) {
      messages.note(path, "the kernel's functions have no names: " + image.reason);
    } else if (image.reason.starts_with("believed")) {
      messages.note(path, "the kernel is named by " + image.found + ", " + image.reason);
    }
  }
}

// The name of a file that is to be called after a capture: its last part, or all of the path where
// others have the same last part.
std::string label_among(const std::vector<std::string>& paths, const std::string& path) {
  constexpr std::size_t kMostBytes = 200;  // file systems have 255
  constexpr std::string_view kSeparators = "/\\:";
  const auto last_part = [&](const std::string& text) {
    return text.substr(text.find_last_of(kSeparators) + 1);
  };
  const std::string name = last_part(path);
  const auto alike = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
    return last_part(other) == name;
  });
  std::string label = alike == 1 ? name : path;
  std::replace_if(
      label.begin(), label.end(),
      [&](char c) { return kSeparators.find(c) != std::string_view::npos; }, '_');
  label = label.substr(label.size() - std::min(label.size(), kMostBytes));
  return label.empty() || label == "." || label == ".." ? "capture.spk" : label;
}

}  // namespace

ShownProgress::ShownProgress(bool wanted) {
  if (!wanted || !app::terminal_moves_cursor(app::Stream::kStandardError)) {
    return;
  }
  try {
    thread_ = std::thread([this] { draw_until_ended(); });
  } catch (const std::system_error&) {
    // No line then.
  }
}

ShownProgress::~ShownProgress() {
  if (!thread_.joinable()) {
    return;
  }
  clear();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

ConvertProgress& ShownProgress::begin_conversion() {
  begin({});
  return conversion_;
}

void ShownProgress::begin(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  hidden_ = false;
}

void ShownProgress::clear() {
  const std::lock_guard lock(mutex_);
  hidden_ = true;
  if (drawn_) {
    app::write_standard_error("\r\033[K");
    drawn_ = false;
  }
}

std::string ShownProgress::line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::string what = what_.empty() ? text_of(conversion_) : what_;
  return fmt::format("{}; {:.1f} s", what, seconds);
}

void ShownProgress::draw_until_ended() {
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds pause = kPatience;
  while (!changed_.wait_for(lock, pause, [this] { return ended_; })) {
    if (!hidden_) {
      app::write_standard_error("\r\033[K" + line());
      drawn_ = true;
    }
    pause = kPause;
  }
}

void note_fetched(const std::string& path, const app::FetchReport& fetch,
                  const Messages& messages) {
  messages.note(
      path,
      fmt::format("debuginfod: {} files fetched, {} not there{}", fetch.fetched, fetch.not_there,
                  fetch.not_asked == 0
                      ? ""
                      : fmt::format(", {} not asked for: no time was left", fetch.not_asked)));
}

app::PackingOptions packing_of(const CaptureArguments& arguments, const std::string& path,
                               const Messages& messages, ShownProgress* progress) {
  app::PackingOptions options;
  options.convert = arguments.convert;
  options.unwind_dumps = arguments.unwind;
  options.convert.binary_folders = arguments.naming.places.directories;
  options.convert.sysroot = arguments.naming.places.root;
  if (!arguments.naming.places.has_root) {
    const std::vector<std::string> caches = app::caches_of_this_machine();
    options.convert.binary_folders.insert(options.convert.binary_folders.end(), caches.begin(),
                                          caches.end());
  }
  if (arguments.symbolize) {
    options.rework = [naming = arguments.naming, path, &messages, progress](
                         const std::string& from, const std::string& to) mutable {
      naming.capture = path;
      if (progress != nullptr) {
        progress->begin("naming functions");
      }
      const Result<app::SymbolizeReport> named = app::symbolize_file(from, to, naming, nullptr);
      if (!named) {
        Error error = named.error();
        error.part = error.part == app::kKallsymsPart ? kMainPart : error.part;
        return Result<std::vector<std::string>>(error);
      }
      if (progress != nullptr) {
        progress->clear();
      }
      note_kernel(path, *named, messages);
      if (naming.debuginfod) {
        note_fetched(path, named->fetch, messages);
      }
      return Result<std::vector<std::string>>(notices_of_names(*named));
    };
  }
  return options;
}

void explain_unread(const std::string& path, const Error& error, const ConvertProgress& conversion,
                    const Messages& messages) {
  std::error_code failed;
  if (std::filesystem::is_directory(app::path_of(path), failed)) {
    explain_not_packed(path, error, messages);
    return;
  }
  messages.error(path, error);
  messages.tried(path, conversion.tried);
}

std::optional<app::PackedCapture> open_shown(const std::string& path,
                                             const CaptureArguments& arguments,
                                             const Messages& messages, int& exit_code,
                                             ShownProgress* progress) {
  ConvertProgress unwatched;
  ConvertProgress& conversion = progress == nullptr ? unwatched : progress->begin_conversion();
  Result<app::PackedCapture> opened =
      app::PackedCapture::open(path, packing_of(arguments, path, messages, progress), &conversion);
  if (progress != nullptr) {
    progress->clear();
  }
  if (!opened) {
    explain(path, opened.error(), conversion, messages, exit_code);
    return std::nullopt;
  }
  if (!opened->is_made() && arguments.symbolize && arguments.hints) {
    note_missing_names(path, opened->reader(), messages);
  }
  return std::move(*opened);
}

std::vector<app::PackedFile> pack_all(const std::vector<std::string>& paths,
                                      const CaptureArguments& arguments, const Messages& messages,
                                      int& exit_code, ShownProgress* progress) {
  std::vector<app::PackedFile> files;
  for (const std::string& path : paths) {
    app::PackingOptions options = packing_of(arguments, path, messages, progress);
    options.name = label_among(paths, path);
    ConvertProgress unwatched;
    ConvertProgress& conversion = progress == nullptr ? unwatched : progress->begin_conversion();
    Result<app::PackedFile> made = app::PackedFile::make(path, options, &conversion);
    if (progress != nullptr) {
      progress->clear();
    }
    const auto reader =
        made ? Reader::open(made->path()) : Result<std::unique_ptr<Reader>>(made.error());
    if (!reader) {
      explain(path, reader.error(), conversion, messages, exit_code);
      return {};
    }
    if (!made->is_made() && arguments.symbolize && arguments.hints) {
      note_missing_names(path, **reader, messages);
    }
    files.push_back(std::move(*made));
  }
  return files;
}

void note_missing_names(const std::string& path, const Reader& reader, const Messages& messages) {
  if (!app::is_terminal(app::Stream::kStandardError) || !lacks_names(reader)) {
    return;
  }
  const bool takes_pdbs = reader.statistics().source_kind == "etl";
  constexpr std::string_view kEnd = ".spk";
  const std::string stem = path.ends_with(kEnd) ? path.substr(0, path.size() - kEnd.size()) : path;
  messages.note(path,
                fmt::format("has no function names yet; stackpack symbolize {}{} -o {} adds "
                            "them",
                            shown_shell_word(path), takes_pdbs ? " --symbols DIR_OF_PDBS" : "",
                            shown_shell_word(stem + ".named.spk")));
}

}  // namespace stackpack::cli
