#include "app/convert/capture_probe.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "app/convert/capture_input.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "spk/format/directory.h"
#include "spk/format/layout.h"
#include "stackpack/convert.h"

namespace stackpack::app {

namespace {

bool says_nothing_about_content(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kResource;
}

}  // namespace

Result<bool> looks_like_capture(const std::string& path) {
  // An archive tells what is in it by its directory: nothing is unpacked.
  const Result<std::vector<std::string>> members = captures_in_archive(path);
  if (members && !members->empty()) {
    return true;
  }
  if (!members && says_nothing_about_content(members.error())) {
    return members.error();
  }
  const Result<CaptureInput> opened =
      CaptureInput::open(path, ConvertOptions{}, io::temporary_directory());
  if (!opened && says_nothing_about_content(opened.error())) {
    return opened.error();
  }
  return opened.has_value();
}

bool looks_like_packed(const std::string& path) {
  const Result<std::unique_ptr<io::ByteSource>> source = io::open_regular_file(path);
  std::array<std::byte, spk::kHeaderBytes> head{};
  const Result<std::size_t> count = source ? (*source)->read_at(0, head) : source.error();
  return count && spk::looks_like_spk(std::span(head).first(*count));
}

}  // namespace stackpack::app
