#include "formats/pprof/frame_pruner.h"

#include <re2/re2.h>

namespace stackpack::pprof {

namespace {

// As for patterns of the command line: more may take seconds for a file of a megabyte.
constexpr int kMostSteps = 2000;

std::unique_ptr<re2::RE2> compiled(const std::string& expression) {
  if (expression.empty()) {
    return nullptr;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(expression, options);
}

bool is_good(const re2::RE2* expression) {
  return expression == nullptr || (expression->ok() && expression->ProgramSize() <= kMostSteps);
}

// Without the dot of PowerPC's entry points and without arguments.
std::string_view simplified(std::string_view name) {
  name.remove_prefix(name.starts_with('.') ? 1 : 0);
  constexpr std::string_view kReserved[] = {"(anonymous namespace)", "operator()"};
  for (std::size_t at = 0; at < name.size(); ++at) {
    bool is_reserved = false;
    for (const std::string_view reserved : kReserved) {
      if (name.substr(at).starts_with(reserved)) {
        at += reserved.size() - 1;
        is_reserved = true;
        break;
      }
    }
    if (!is_reserved && name[at] == '(') {
      return name.substr(0, at);
    }
  }
  return name;
}

}  // namespace

FramePruner::FramePruner(const std::string& drop, const std::string& keep)
    : drop_(compiled(drop)), keep_(drop.empty() ? nullptr : compiled(keep)) {
  good_ = is_good(drop_.get()) && is_good(keep_.get());
}

FramePruner::~FramePruner() = default;

bool FramePruner::drops(const std::string& name) {
  if (!drop_ || !good_ || name.empty()) {
    return false;
  }
  const auto [known, fresh] = known_.try_emplace(name, false);
  if (fresh) {
    const std::string_view simple = simplified(name);
    const re2::StringPiece text(simple.data(), simple.size());
    known->second =
        re2::RE2::FullMatch(text, *drop_) && (!keep_ || !re2::RE2::FullMatch(text, *keep_));
  }
  return known->second;
}

}  // namespace stackpack::pprof
