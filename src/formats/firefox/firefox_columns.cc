#include "formats/firefox/firefox_columns.h"

#include <algorithm>
#include <charconv>

#include "capture/json_stream.h"
#include "core/rapid_json.h"

namespace stackpack::firefox {

namespace {

constexpr std::size_t kMostDepth = 64;  // of brackets
constexpr std::size_t kMostThreads = std::size_t{1} << 20;

constexpr std::string_view kShared = "shared/";
constexpr std::string_view kThreads = "threads/";
constexpr std::string_view kTables[] = {
    "funcTable/relevantForJS", "frameTable/address", "funcTable/address",
    "stackTable/frame",        "stackTable/prefix",  "stackTable/prefixOffset",
    "frameTable/flags",        "frameTable/func",    "frameTable/lib",
    "frameTable/line",         "funcTable/flags",    "funcTable/name",
    "funcTable/resource",      "funcTable/source",   "funcTable/fileName",
    "funcTable/lineNumber",    "resourceTable/name", "resourceTable/lib",
    "sources/filename",
};

// Takes what RapidJSON reads. The path is the keys that lead to a value; elements of arrays add
// nothing to it.
class ColumnReader : public capture::JsonScalars<ColumnReader> {
 public:
  using Ch = char;

  ColumnReader(FileColumns& file, const capture::JsonStream& stream,
               const capture::ReadControl& control, std::uint64_t max_bytes)
      : file_(file), stream_(stream), control_(control), max_bytes_(max_bytes) {}

  [[nodiscard]] const Status& status() const { return status_; }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Null() { return number(-1); }
  static bool Bool(bool /*value*/) { return true; }
  bool Key(const char* data, rapidjson::SizeType size, bool /*copy*/) {
    path_.resize(bases_.back());
    if (!path_.empty()) {
      path_ += '/';
    }
    constexpr std::size_t kLongest = 64;
    path_.append(data, std::min<std::size_t>(size, kLongest));
    choose_column();
    return true;
  }
  bool StartObject() {
    if (path_ == "threads" && depth_ == 2) {
      file_.threads.emplace_back();
    } else if (path_ == "libs" && depth_ == 2) {
      file_.shared.library_paths.emplace_back();
    } else if (path_ == "threads/libs" && depth_ == 4 && !file_.threads.empty()) {
      file_.threads.back().tables.library_paths.emplace_back();
    } else if (path_ == "counters" && depth_ == 2) {
      ++file_.counters;
    }
    file_.is_unprocessed |= path_ == "threads/samples/schema";
    return file_.threads.size() <= kMostThreads && begin() && charge(sizeof(ThreadColumns) / 8);
  }
  bool EndObject(rapidjson::SizeType /*members*/) { return end(); }
  bool StartArray() { return begin(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return end(); }
  // NOLINTEND(readability-identifier-naming)

 private:
  friend capture::JsonScalars<ColumnReader>;

  bool begin() {
    bases_.push_back(path_.size());
    if (control_.stop_requested()) {
      return fail({ErrorCode::kCancelled, stream_.Tell(), "firefox: cancelled"});
    }
    control_.advance_to(stream_.Tell());
    return ++depth_ <= kMostDepth;
  }
  bool end() {
    --depth_;
    path_.resize(bases_.back());
    bases_.pop_back();
    return true;
  }

  void choose_column() {
    column_ = nullptr;
    if (path_.starts_with("threads/samples/") && !file_.threads.empty()) {
      ThreadColumns& thread = file_.threads.back();
      const std::string_view name = std::string_view(path_).substr(16);
      column_ = name == "stack"        ? &thread.stack
                : name == "time"       ? &thread.time
                : name == "timeDeltas" ? &thread.time_deltas
                : name == "weight"     ? &thread.weight
                                       : nullptr;
    } else if (NameTables* const tables = tables_of_path(); tables != nullptr) {
      const std::string_view name = std::string_view(path_).substr(path_.find('/') + 1);
      if (std::find(std::begin(kTables), std::end(kTables), name) != std::end(kTables)) {
        column_ = &tables->columns[std::string(name)];
      }
    }
    column_depth_ = depth_ + 1;
  }

  // Those that the path leads into; null: it does not.
  NameTables* tables_of_path() {
    return path_.starts_with(kShared)                              ? &file_.shared
           : path_.starts_with(kThreads) && !file_.threads.empty() ? &file_.threads.back().tables
                                                                   : nullptr;
  }

  bool number(double value) {
    if (column_ != nullptr && depth_ == column_depth_) {
      column_->push_back(value);
      return charge(sizeof(double));
    }
    if (path_ == "meta/startTime") {
      file_.start_ms = value;
    } else if (path_ == "threads/markers/name" && !file_.threads.empty()) {
      ++file_.threads.back().markers;
    } else if (std::vector<std::string>* const strings = strings_of_path(); strings != nullptr) {
      strings->emplace_back();
      return charge(sizeof(std::string));
    } else if (value >= 0 && value < 4294967295.0 && !file_.threads.empty()) {
      if (path_ == "threads/pid" || path_ == "threads/tid") {
        (path_ == "threads/pid" ? file_.threads.back().pid : file_.threads.back().tid) =
            std::to_string(static_cast<std::uint32_t>(value));
      }
    }
    return true;
  }

  bool text(std::string_view value) {
    if (std::vector<std::string>* const strings = strings_of_path(); strings != nullptr) {
      strings->emplace_back(value);
      return charge(sizeof(std::string) + value.size());
    }
    if (path_.ends_with("libs/path") || path_.ends_with("libs/name")) {
      return library(value);
    }
    std::string* const member = thread_member();
    if (member != nullptr) {
      *member = value;
      return charge(value.size());
    }
    return number(-1);
  }

  std::vector<std::string>* strings_of_path() {
    NameTables* const tables = path_.ends_with("/stringArray") ? tables_of_path() : nullptr;
    return tables == nullptr ? nullptr : &tables->strings;
  }

  // The path, in the oldest files the name, which is one.
  bool library(std::string_view value) {
    const bool shared = path_.starts_with("libs/");
    if (!shared && (!path_.starts_with("threads/libs/") || file_.threads.empty())) {
      return true;
    }
    std::vector<std::string>& paths =
        shared ? file_.shared.library_paths : file_.threads.back().tables.library_paths;
    if (!paths.empty() && (path_.ends_with("path") || paths.back().empty())) {
      paths.back() = value.empty() ? paths.back() : std::string(value);
      return charge(value.size());
    }
    return true;
  }

  std::string* thread_member() {
    if (file_.threads.empty()) {
      return nullptr;
    }
    ThreadColumns& thread = file_.threads.back();
    return path_ == "threads/name"                 ? &thread.name
           : path_ == "threads/processName"        ? &thread.process_name
           : path_ == "threads/pid"                ? &thread.pid
           : path_ == "threads/tid"                ? &thread.tid
           : path_ == "threads/event"              ? &thread.event
           : path_ == "threads/samples/weightType" ? &thread.weight_type
                                                   : nullptr;
  }

  bool charge(std::size_t bytes) {
    bytes_ += bytes;
    return bytes_ <= max_bytes_ ||
           fail({ErrorCode::kLimit, stream_.Tell(), "firefox: more samples or names than allowed"});
  }
  bool fail(const Error& error) {
    status_ = error;
    return false;
  }

  FileColumns& file_;
  const capture::JsonStream& stream_;
  const capture::ReadControl& control_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  Status status_;
  std::string path_;
  std::vector<std::size_t> bases_;  // bytes of the path around each open bracket
  std::size_t depth_ = 0;
  Column* column_ = nullptr;
  std::size_t column_depth_ = 0;
};

}  // namespace

double NameTables::value(std::string_view column, double row) const {
  const auto found = columns.find(column);
  return found != columns.end() && row >= 0 && row < static_cast<double>(found->second.size())
             ? found->second[static_cast<std::size_t>(row)]
             : -1;
}

Result<FileColumns> read_columns(io::ByteSource& source, const capture::ReadControl& control,
                                 std::uint64_t max_bytes) {
  FileColumns file;
  capture::JsonStream stream(source);
  ColumnReader columns(file, stream, control, max_bytes);
  core::JsonReader reader;
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(stream,
                                                                                        columns);
  if (!stream.status() || !columns.status()) {
    return stream.status() ? columns.status().error() : stream.status().error();
  }
  if (result.IsError()) {
    return Error{ErrorCode::kCorrupt, result.Offset(), "firefox: not JSON of a profile"};
  }
  return file;
}

}  // namespace stackpack::firefox
