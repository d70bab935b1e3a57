#include "app/convert/capture_formats.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/convert/merge_losses.h"
#include "app/convert/wait_pass.h"
#include "capture/dump_unwinder.h"
#include "capture/recorder_losses.h"
#include "capture/weighted_events.h"
#include "codec/plain_text.h"
#include "formats/etl/etl_source.h"
#include "formats/firefox/firefox_source.h"
#include "formats/folded/folded_source.h"
#include "formats/jfr/jfr_source.h"
#include "formats/nettrace/nettrace_source.h"
#include "formats/otlp/otlp_source.h"
#include "formats/perf/perf_source.h"
#include "formats/perf_script/perf_script_source.h"
#include "formats/pprof/pprof_source.h"
#include "formats/speedscope/speedscope_source.h"
#include "formats/stacks/stacks_source.h"
#include "formats/v8/v8_source.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace {

constexpr const capture::SourceFormat* kFormats[] = {
    &perf::source_format,        &etl::source_format,     &nettrace::source_format,
    &jfr::source_format,         &pprof::source_format,   &otlp::source_format,
    &speedscope::source_format,  &firefox::source_format, &v8::source_format,
    &perf_script::source_format, &folded::source_format,  &stacks::source_format,
};

}  // namespace

std::span<const capture::SourceFormat* const> capture_formats() {
  return kFormats;
}

std::vector<FormatAnswer> ask_formats(const capture::CaptureHead& head) {
  const codec::TextEncoding encoding = codec::text_encoding_of(head.bytes);
  std::vector<std::byte> text;
  if (encoding != codec::TextEncoding::kPlain) {
    text = codec::plain_text_head(head.bytes, encoding);
  }
  const capture::CaptureHead shown{text.empty() ? head.bytes : text, head.whole};
  std::vector<FormatAnswer> answers;
  for (const capture::SourceFormat* const format : kFormats) {
    answers.push_back({format, format->probe(shown)});
  }
  std::stable_sort(
      answers.begin(), answers.end(), [](const FormatAnswer& a, const FormatAnswer& b) {
        return std::pair(a.probe.answer, a.probe.share) > std::pair(b.probe.answer, b.probe.share);
      });
  return answers;
}

const capture::SourceFormat* format_of(const capture::CaptureHead& head) {
  const FormatAnswer best = ask_formats(head).front();
  return best.probe ? best.format : nullptr;
}

const capture::SourceFormat* format_named(std::string_view name) {
  for (const capture::SourceFormat* const format : kFormats) {
    if (format->name == name) {
      return format;
    }
  }
  return nullptr;
}

const capture::SourceFormat* format_by_ending(std::string_view name) {
  for (const capture::SourceFormat* const format : kFormats) {
    if (!format->ending.empty() && ends_with(name, format->ending)) {
      return format;
    }
  }
  return nullptr;
}

bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.rbegin(), ending.rend(), name.rbegin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

std::vector<std::string> loss_names() {
  std::set<std::string> names = {
      std::string(kCompressedInputDamaged), std::string(kSystemFactsOverLimit),
      std::string(capture::kWeightsRounded), std::string(capture::text_loss::kCut)};
  names.insert(capture::unwind_loss::kIncomplete.begin(), capture::unwind_loss::kIncomplete.end());
  names.insert(capture::unwind_loss::kOthers.begin(), capture::unwind_loss::kOthers.end());
  names.insert(wait_loss_names().begin(), wait_loss_names().end());
  names.insert(cut_loss::kAll.begin(), cut_loss::kAll.end());
  names.insert(merge_loss::kAll.begin(), merge_loss::kAll.end());
  names.insert(capture::value_loss::kAll.begin(), capture::value_loss::kAll.end());
  names.insert(capture::branch_loss::kAll.begin(), capture::branch_loss::kAll.end());
  for (const capture::SourceFormat* const format : kFormats) {
    names.insert(format->loss_names.begin(), format->loss_names.end());
  }
  for (const std::string& reason : skip_reason_names()) {
    names.insert(reason);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> skip_reason_names() {
  std::set<std::string> names;
  for (const capture::SourceFormat* const format : kFormats) {
    for (const capture::SkipReason& reason : format->skip_reasons) {
      names.emplace(reason.name());
    }
  }
  return {names.begin(), names.end()};
}

Result<OpenedDirectory> open_directory(const std::string& path) {
  Error error{ErrorCode::kUnsupported, kNoOffset, "is a directory"};
  for (const capture::SourceFormat* const format : kFormats) {
    if (format->open_directory != nullptr) {
      Result<capture::CaptureBytes> bytes = format->open_directory(path);
      if (bytes) {
        return OpenedDirectory{format, std::move(*bytes)};
      }
      error = bytes.error();
    }
  }
  return error;
}

}  // namespace stackpack::app

namespace stackpack {

std::vector<std::string> capture_format_names() {
  std::vector<std::string> names;
  for (const capture::SourceFormat* const format : app::capture_formats()) {
    names.emplace_back(format->name);
  }
  return names;
}

}  // namespace stackpack
