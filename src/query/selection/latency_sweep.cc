#include "query/selection/latency_sweep.h"

#include <algorithm>

namespace stackpack::query {

void LatencySweep::give_held(std::uint64_t more_ns) {
  if (held_) {
    held_->first.weight += more_ns;
    emit_(held_->first, held_->second);
    held_.reset();
  }
}

void LatencySweep::close(const StoredSample& sample, std::uint64_t part, ClockUse use) {
  carried_ += part;
  give_held(0);
  held_.emplace(sample, use);
  held_->first.weight = carried_ >> kFraction;
  given_ns_ += held_->first.weight;
  carried_ &= (std::uint64_t{1} << kFraction) - 1;
}

// Up to then no thread runs.
void LatencySweep::rest(std::uint64_t until_ns) {
  while (now_ns_ < until_ns) {
    while (next_gap_ < gaps_.size() && gaps_[next_gap_].second <= now_ns_) {
      ++next_gap_;
    }
    const bool has_gap = next_gap_ < gaps_.size();
    const bool in_gap = has_gap && gaps_[next_gap_].first <= now_ns_;
    const std::uint64_t change = !has_gap ? until_ns
                                 : in_gap ? gaps_[next_gap_].second
                                          : gaps_[next_gap_].first;
    StoredSample sample;
    sample.time_ns = std::min(until_ns, change);
    sample.weight = sample.time_ns - now_ns_;
    emit_(sample, in_gap ? ClockUse::kNotRecorded : ClockUse::kNothingRuns);
    now_ns_ = sample.time_ns;
  }
}

void LatencySweep::advance(std::uint64_t time_ns) {
  if (runs_.empty()) {
    rest(time_ns);
  } else if (time_ns > now_ns_) {
    const std::uint64_t length = time_ns - now_ns_;
    const std::uint64_t threads = runs_.size();
    shared_ += ((length / threads) << kFraction) + ((length % threads) << kFraction) / threads;
    ran_ns_ += length;
    now_ns_ = time_ns;
  }
}

void LatencySweep::begin_run(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) {
  advance(time_ns);
  Run run;
  run.shared = shared_;
  run.pid = pid;
  runs_.try_emplace(tid, run);
}

bool LatencySweep::add(const StoredSample& sample) {
  const auto found = runs_.find(sample.tid);
  if (found == runs_.end()) {
    return false;
  }
  advance(sample.time_ns);
  Run& run = found->second;
  if (run.sample) {
    close(*run.sample, run.part, ClockUse::kSampled);
  }
  run.part = shared_ - run.shared;
  run.shared = shared_;
  run.sample = sample;
  return true;
}

void LatencySweep::end_run(std::uint32_t tid, std::uint64_t time_ns) {
  const auto found = runs_.find(tid);
  if (found == runs_.end()) {
    return;
  }
  advance(time_ns);
  const Run& run = found->second;
  const std::uint64_t rest_of_run = shared_ - run.shared;
  if (run.sample) {
    close(*run.sample, run.part + rest_of_run, ClockUse::kSampled);
  } else {
    StoredSample none;
    none.time_ns = time_ns;
    none.pid = run.pid;
    none.tid = tid;
    close(none, rest_of_run, ClockUse::kNotSampled);
  }
  runs_.erase(found);
}

// The parts of all that ran were rounded down: what that leaves, a few ns, is the last one's.
void LatencySweep::finish(std::uint64_t to_ns) {
  advance(to_ns);
  give_held(ran_ns_ > given_ns_ ? ran_ns_ - given_ns_ : 0);
}

}  // namespace stackpack::query
