#include "formats/perf/perf_input.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sort_rows.h"
#include "io/directories.h"
#include "io/utf8_path.h"

namespace stackpack::perf {

namespace {

// The N of `data.N`.
std::optional<std::uint32_t> part_number(std::string_view name) {
  constexpr std::string_view kPrefix = "data.";
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  if (name.size() > 1 && name.front() == '0') {
    return std::nullopt;  // perf writes no such name, and a number should name one file
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(number) : std::nullopt;
}

// One part of a directory. There is a part for each processor, more than the descriptors a process
// may have on a large machine, so that none is held open: each read, of a megabyte mostly, opens
// the file.
class PartSource final : public io::ByteSource {
 public:
  PartSource(std::string path, std::uint64_t size) : path_(std::move(path)), size_(size) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    const Result<std::size_t> count = read_at(position_, into);
    position_ += count ? *count : 0;
    return count;
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    const Result<std::unique_ptr<io::ByteSource>> file = io::open_regular_file(path_);
    return file ? (*file)->read_at(offset, into) : file.error();
  }

  [[nodiscard]] bool seekable() const override { return true; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }

 private:
  std::string path_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
};

Result<std::unique_ptr<io::ByteSource>> open_part(const std::filesystem::path& path) {
  const Result<std::unique_ptr<io::ByteSource>> file = io::open_regular_file(io::text_of(path));
  if (!file) {
    return file.error();
  }
  return Result<std::unique_ptr<io::ByteSource>>(
      std::make_unique<PartSource>(io::text_of(path), (*file)->size().value_or(0)));
}

}  // namespace

Result<Input> open_directory(const std::string& path) {
  namespace fs = std::filesystem;
  Input input;
  Result<std::unique_ptr<io::ByteSource>> main =
      io::open_regular_file(io::text_of(io::path_of(path) / "data"));
  if (!main) {
    return main.error().code == ErrorCode::kNotFound
               ? Error{ErrorCode::kNotFound, kNoOffset, "perf: directory: no file 'data' in it"}
               : main.error();
  }
  input.main = std::move(main).value();
  const Result<std::vector<std::string>> names = io::list_directory(path);
  if (!names) {
    return names.error();
  }
  for (const std::string& name : *names) {
    const std::optional<std::uint32_t> number = part_number(name);
    if (!number) {
      continue;
    }
    Result<std::unique_ptr<io::ByteSource>> part = open_part(io::path_of(path) / io::path_of(name));
    if (!part) {
      Error failed = part.error();
      failed.part = *number;
      return failed;
    }
    input.parts.push_back({*number, std::move(part).value()});
  }
  core::sort_rows(input.parts,
                  [](const Input::Part& a, const Input::Part& b) { return a.number < b.number; });
  return input;
}

}  // namespace stackpack::perf
