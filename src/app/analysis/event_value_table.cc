#include "app/analysis/event_value_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace stackpack::app {

Result<EventValueTable> EventValueTable::load(const Reader& reader) {
  EventValueTable table(reader);
  const Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  Result<std::vector<std::string>> texts = reader.event_value_texts();
  Result<std::vector<Process>> processes = reader.processes();
  Result<std::vector<Thread>> threads = reader.threads();
  Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!kinds || !texts || !symbols) {
    return kinds ? texts ? symbols.error() : texts.error() : kinds.error();
  }
  if (!processes || !threads) {
    return processes ? threads.error() : processes.error();
  }
  table.threads_ = std::move(*threads);
  table.thread_lives_.emplace(table.threads_);
  table.kinds_ = capture::ValueTranslation(*kinds);
  if (!texts->empty()) {
    table.texts_ = std::move(*texts);
  }
  table.processes_ = std::move(*processes);
  table.lives_.emplace(table.processes_);
  table.symbols_ = std::move(*symbols);
  return table;
}

bool EventValueTable::translate(const EventValue& value, Row& row) const {
  row.value = &value;
  return kinds_.translate(value, row.kind, row.fields);
}

std::string EventValueTable::process(std::uint32_t pid, std::uint64_t time_ns) const {
  if (pid == kUnknownId) {
    return "(unknown process)";
  }
  const std::uint32_t row = lives_->find(pid, time_ns).row;
  const std::string_view name =
      row == capture::kNoRow ? std::string_view() : std::string_view(processes_[row].name);
  return name.empty() ? fmt::format("PID {}", pid) : fmt::format("{} ({})", name, pid);
}

std::string EventValueTable::thread(std::uint32_t pid, std::uint32_t tid,
                                    std::uint64_t time_ns) const {
  if (tid == kUnknownId) {
    return std::string(kUnknownThread);
  }
  const std::uint32_t row = thread_lives_->find(std::tuple(pid, tid), time_ns).row;
  return fmt::format("{}[{}]", row == capture::kNoRow ? std::string() : threads_[row].name, tid);
}

Result<std::string> EventValueTable::function(const EventValue& value, RuntimeFrames passed_over) {
  if (value.stack == kNoStack) {
    return std::string();
  }
  const auto [known, fresh] = functions_.try_emplace({value.stack, value.pid, passed_over});
  if (!fresh) {
    return known->second;
  }
  if (const Status read = reader_->callstack(value.stack, frames_); !read) {
    return read.error();
  }
  symbols_->locate_stack(frames_, value.pid, value.time_ns, locations_);
  const auto is_named = [](const CodeLocation& location) { return !location.name.empty(); };
  const auto first = std::find_if(locations_.begin(), locations_.end(), is_named);
  const auto own = std::find_if(first, locations_.end(), [&](const CodeLocation& location) {
    return is_named(location) && !is_runtime_frame(passed_over, location.name);
  });
  if (first != locations_.end()) {
    known->second = own != locations_.end() ? own->name : first->name;
  }
  if (known->second.empty() && !locations_.empty()) {
    // Code of a program says more than the driver at the leaf.
    std::size_t at = 0;
    for (std::size_t i = frames_.size(); i-- > 0;) {
      at = frames_[i].mode == FrameMode::kUser && locations_[i].module != nullptr ? i : at;
    }
    const Module* const module = locations_[at].module;
    const std::string path = module == nullptr ? "unknown" : module->path;
    known->second = "[" + path.substr(path.find_last_of("/\\") + 1) + "]";
  }
  return known->second;
}

}  // namespace stackpack::app
