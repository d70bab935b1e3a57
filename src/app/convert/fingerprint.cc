#include "app/convert/fingerprint.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "app/convert/content_digest.h"
#include "bytes/hash.h"
#include "io/byte_source.h"
#include "stackpack/reader.h"
#include "stackpack/version.h"

namespace stackpack::app {

namespace fs = std::filesystem;

namespace {

Error unreadable(const std::error_code& failed) {
  return {ErrorCode::kIo, kNoOffset, "cannot read the input a second time", failed.value()};
}

// The files of a capture, in an order that does not depend on the file system.
Result<std::vector<fs::path>> files_of(const std::string& input) {
  std::error_code failed;
  const bool directory = fs::is_directory(input, failed);
  if (failed) {
    return unreadable(failed);
  }
  if (!directory) {
    return std::vector<fs::path>{fs::path(input)};
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(input, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->is_regular_file(failed) && !failed) {
      files.push_back(entry->path());
    }
    if (failed) {
      break;
    }
  }
  if (failed) {
    return unreadable(failed);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<fs::file_time_type> newest_change(const std::string& input) {
  const Result<std::vector<fs::path>> files = files_of(input);
  if (!files) {
    return std::nullopt;
  }
  std::optional<fs::file_time_type> newest;
  for (const fs::path& file : *files) {
    std::error_code failed;
    const fs::file_time_type time = fs::last_write_time(file, failed);
    if (failed) {
      return std::nullopt;
    }
    newest = newest ? std::max(*newest, time) : time;
  }
  return newest;
}

}  // namespace

Result<std::string> content_of(const std::string& input) {
  const Result<std::vector<fs::path>> files = files_of(input);
  if (!files) {
    return files.error();
  }
  std::string content;
  for (const fs::path& file : *files) {
    std::error_code failed;
    const bool regular = fs::is_regular_file(file, failed);
    if (failed) {
      return unreadable(failed);
    }
    if (!regular) {
      return std::string();
    }
    Result<std::unique_ptr<io::ByteSource>> source = io::open_source(file.string());
    if (!source) {
      return source.error();
    }
    const Result<std::string> digest = ContentDigest::of(**source);
    if (!digest) {
      return digest.error();
    }
    // Names inside a directory tell the parts apart; the name of the capture itself is not part.
    content += file == fs::path(input) ? *digest : file.filename().string() + ' ' + *digest + ' ';
  }
  return content;
}

Result<std::string> content_of_all(const std::vector<std::string>& inputs,
                                   const std::string& passed) {
  std::vector<std::string> contents;
  for (const std::string& input : inputs) {
    Result<std::string> content = input == "-" ? Result<std::string>(passed) : content_of(input);
    if (!content) {
      return content.error();
    }
    contents.push_back(content->empty() ? passed : std::move(*content));
    if (contents.back().empty()) {
      return std::string();
    }
  }
  std::sort(contents.begin(), contents.end());
  std::string all;
  for (const std::string& content : contents) {
    all += all.empty() ? content : ' ' + content;
  }
  return all;
}

std::string fingerprint_of(std::string_view content, const ConvertOptions& options) {
  std::string text = "stackpack " STACKPACK_VERSION;
  text += " format " + (options.format.empty() ? "0" : options.format);
  text += " level " + std::to_string(options.level);
  text += options.samples ? " samples" : " counts";
  text += options.redact ? " redacted" : "";
  text += " member " + options.member + " content ";
  text += content;
  return std::to_string(bytes::xxh3_64(std::as_bytes(std::span(text))));
}

bool is_up_to_date(const std::string& input, const std::string& output,
                   std::string_view fingerprint) {
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(output, failed);
  if (failed || fingerprint.empty()) {
    return false;
  }
  const std::optional<fs::file_time_type> changed = newest_change(input);
  if (!changed || *changed > written) {
    return false;
  }
  const Result<std::unique_ptr<Reader>> reader = Reader::open(output);
  return reader.has_value() && (*reader)->fingerprint() == fingerprint;
}

}  // namespace stackpack::app
