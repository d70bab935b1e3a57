#include "formats/v8/v8_frames.h"

#include <algorithm>

#include "capture/function_fact.h"
#include "capture/unnamed_code.h"

namespace stackpack::v8 {

namespace {

// `URL:LINE:COLUMN`, as far as it is known; empty: a frame that is no script's.
std::string place_of(const CallFrame& frame) {
  const bool has_script = !frame.script.empty() && frame.script != "0";
  if (frame.url.empty() && !has_script) {
    return {};
  }
  std::string place = frame.url.empty() ? "script " + frame.script : frame.url;
  if (frame.line != 0) {
    place += ':' + std::to_string(frame.line);
    place += frame.column != 0 ? ':' + std::to_string(frame.column) : std::string();
  }
  return place;
}

std::string name_of(const CallFrame& frame) {
  if (!frame.name.empty()) {
    return frame.name;
  }
  std::string name = "(anonymous";
  if (!frame.url.empty()) {
    name.append(" ").append(capture::last_part(frame.url));
    name += frame.line != 0 ? ':' + std::to_string(frame.line) : std::string();
  }
  return name + ')';
}

}  // namespace

std::string_view module_of(std::string_view url) {
  constexpr std::string_view kPackages = "node_modules/";
  const std::size_t at = url.rfind(kPackages);
  if (at == std::string_view::npos) {
    return url;
  }
  const std::size_t name = at + kPackages.size();
  std::size_t end = url.find('/', name);
  if (end != std::string_view::npos && url.substr(name).starts_with('@')) {
    end = url.find('/', end + 1);
  }
  return url.substr(at, std::min(end, url.size()) - at);
}

NodeKind kind_of(const CallFrame& frame) {
  return !frame.url.empty() || frame.module ? NodeKind::kCode
         : frame.name == "(root)"           ? NodeKind::kRoot
         : frame.name == "(idle)"           ? NodeKind::kIdle
                                            : NodeKind::kCode;
}

std::optional<std::uint64_t> FrameNames::address_of(const CallFrame& frame) {
  const std::string name = name_of(frame);
  const std::string place = place_of(frame);
  const std::string linkage = frame.linkage   ? *frame.linkage
                              : place.empty() ? std::string()
                                              : name + " (" + place + ')';
  capture::FunctionFact fact;
  fact.name = name;
  fact.linkage = linkage;
  fact.file = frame.url;
  fact.line = frame.line;
  return frames_.address_of(fact, {frame.module ? *frame.module : module_of(frame.url)});
}

}  // namespace stackpack::v8
