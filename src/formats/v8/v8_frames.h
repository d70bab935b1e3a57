// Functions of JavaScript as frames: what they are called, and which module they belong to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "capture/synthetic_frames.h"
#include "capture/system_recorder.h"
#include "formats/v8/v8_profile.h"

namespace stackpack::v8 {

/// A `callFrame`. Lines and columns as people count them, from 1; 0: not known.
struct CallFrame {
  std::string name;
  std::string url;
  std::string script;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  // Of our own exports: what is not as a script has it.
  std::optional<std::string> module = {};
  std::optional<std::string> linkage = {};
};

/// The package of a script in a folder `node_modules`: `node_modules/@scope/name`; else the script.
std::string_view module_of(std::string_view url);

NodeKind kind_of(const CallFrame& frame);

/// Gives functions addresses that stand for them. The linkage name is as a stack trace of
/// JavaScript has it, `NAME (URL:LINE:COLUMN)`, so that functions of one line are told apart.
class FrameNames {
 public:
  explicit FrameNames(capture::SystemRecorder& system) : frames_(system) {}

  /// Nothing: there are too many names.
  std::optional<std::uint64_t> address_of(const CallFrame& frame);

 private:
  capture::SyntheticFrames frames_;
};

}  // namespace stackpack::v8
