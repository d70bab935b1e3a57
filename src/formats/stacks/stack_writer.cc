#include "formats/stacks/stack_writer.h"

#include "formats/stacks/stacks_losses.h"

namespace stackpack::stacks {

namespace {

constexpr std::string_view kDefaultEventKey = "pprof.default_event";
constexpr std::size_t kMostNamedOwners = std::size_t{1} << 20;

}  // namespace

std::optional<std::uint64_t> StackWriter::address_of(const TextFrame& frame) {
  capture::FunctionFact fact;
  fact.name = frame.name;
  fact.linkage = frame.linkage;
  fact.code = {frame.file, frame.line, {}};
  if (frame.joined) {
    joined_.assign(frame.image).append(1, '`').append(frame.name);
    fact.name = joined_;
  }
  return names_.address_of(fact, {frame.image});
}

void StackWriter::describe_event(const std::string& event) {
  if (event == described_) {
    return;
  }
  described_ = event;
  if (event == kOffCpu) {
    sink_.system().metadata(std::string(core::kUnitKey) + event, "microseconds");
  } else if (event == kWaiting) {
    sink_.system().metadata(kDefaultEventKey, kSamples);
  }
}

void StackWriter::name_owner(const StackOwner& owner) {
  if (owner.pid != kUnknownId && !owner.comm.empty() && named_.size() < kMostNamedOwners &&
      named_.emplace(owner.pid, owner.comm).second) {
    sink_.system().process_named(owner.pid, kUnknownTime, owner.comm, false);
  }
}

Status StackWriter::add(const std::vector<std::uint64_t>& stack, const StackOwner& owner,
                        const core::DecimalWeight& weight, std::uint64_t offset) {
  if (stack.size() > kMostFrames) {
    lose(loss::kTooDeep, offset);
    return {};
  }
  name_owner(owner);
  describe_event(owner.event);
  Sample sample;
  sample.pid = owner.pid;
  sample.tid = owner.tid != kUnknownId ? owner.tid : owner.pid;
  sample.origin = StackOrigin::kRecorded;
  events_.weigh(sample, owner.event, weight, offset);
  const capture::ModeRun run{FrameMode::kUnknown, static_cast<std::uint32_t>(stack.size())};
  return sink_.add_sample(sample, {stack, std::span(&run, stack.empty() ? 0U : 1U)});
}

}  // namespace stackpack::stacks
