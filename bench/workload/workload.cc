#include "workload/workload.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "workload/call_graph.h"

namespace stackpack::bench {
namespace {

constexpr std::uint64_t kTickNs = 122'070;  // 8,192 Hz
constexpr std::uint64_t kStartNs = 13'200'000'000'000;
constexpr std::uint64_t kPhaseNs = 3'000'000'000;
constexpr std::size_t kMaxDepth = 192;  // what the recorder keeps, from the leaf

// A step of a thread between two observations.
constexpr double kStayChance = 0.68;   // it is still in the same functions
constexpr double kFarChance = 0.004;   // it has returned to anywhere
constexpr double kReturnMore = 0.4;    // each further return after the first
constexpr double kStopChance = 0.037;  // base of: it calls nothing further
constexpr std::size_t kDeepestUser = 110;

constexpr double kBusyChance = 0.85;  // processors 0 to 2 run the main threads
constexpr double kOtherBusyChance = 0.45;
constexpr double kKernelChance = 0.28;  // the clock finds the kernel at work for the thread
constexpr double kWakeUpChance = 0.45;
constexpr double kSwitchesPerTick = 1.55;
constexpr double kDeepWaitChance = 0.75;

constexpr std::uint32_t kSystemCalls = 240;
constexpr std::uint32_t kWaits = 64;
constexpr std::uint32_t kSignals = 24;

enum class Role : std::uint8_t { kMain, kRender, kAudio, kWorker, kService, kSleeper };

struct Roster {
  Role role;
  std::uint32_t count;
  std::uint32_t first_tid;
  std::uint32_t spine;  // fixed frames below the entry: main, message loop, frame loop
};
constexpr std::array<Roster, 6> kRoster{{{Role::kMain, 1, 4120, 9},
                                         {Role::kRender, 1, 4188, 5},
                                         {Role::kAudio, 1, 4192, 2},
                                         {Role::kWorker, 15, 4200, 2},
                                         {Role::kService, 30, 4400, 2},
                                         {Role::kSleeper, 320, 8000, 2}}};
constexpr std::uint32_t kFirstWorker = 3;
constexpr std::uint32_t kFirstService = kFirstWorker + 15;
constexpr std::uint32_t kFirstSleeper = kFirstService + 30;

// A way through the kernel that is always the same: frames root first, and where it ends.
struct KernelPath {
  std::vector<std::uint64_t> frames;
  CallGraph::Function last = 0;
};

struct Activation {
  CallGraph::Function function = 0;
  std::uint64_t return_address = 0;  // into it, from the function above
};

struct ThreadState {
  std::uint32_t tid = 0;
  Role role = Role::kSleeper;
  std::size_t base = 0;  // activations that it never returns from
  std::vector<Activation> stack;
  std::uint32_t wait = 0;  // where it usually waits
};

class Machine {
 public:
  Machine(const WorkloadOptions& options, const std::function<void(const Observation&)>& visit)
      : graph_(options.seed),
        random_(options.seed),
        visit_(visit),
        wander_(options.wander),
        left_(workload_stacks(options)) {
    make_threads();
    make_kernel_paths();
    for (std::uint32_t cpu = 0; cpu < kWorkloadCpus; ++cpu) {
      running_[cpu] = cpu;
    }
  }

  void run() {
    for (std::uint64_t tick = kStartNs; left_ > 0; tick += kTickNs) {
      phase_ = static_cast<std::uint32_t>(tick / kPhaseNs);
      for (std::uint32_t cpu = 0; cpu < kWorkloadCpus && left_ > 0; ++cpu) {
        run_cpu(cpu, tick + std::uint64_t{cpu} * 700);
      }
    }
  }

 private:
  void make_threads();
  void make_kernel_paths();
  KernelPath make_path(std::uint32_t number, std::uint32_t depth) const;

  void run_cpu(std::uint32_t cpu, std::uint64_t time_ns);
  void clock_interrupt(std::uint32_t cpu, std::uint64_t& time_ns);
  void context_switch(std::uint32_t cpu, std::uint64_t& time_ns);
  std::uint32_t pick_next(std::uint32_t cpu);
  void step(ThreadState& thread);
  void call_further(ThreadState& thread);
  void return_until(ThreadState& thread, unsigned one_in, std::uint64_t salt);
  void begin_stack(const ThreadState& thread);
  void enter_kernel(const ThreadState& thread, const KernelPath& path);
  void emit(const ThreadState& thread, std::uint32_t cpu, std::uint64_t time_ns, Cause cause);

  CallGraph graph_;
  Random random_;
  const std::function<void(const Observation&)>& visit_;
  double wander_;
  std::uint64_t left_;
  std::uint32_t phase_ = 0;
  std::vector<ThreadState> threads_;
  std::array<std::uint32_t, kWorkloadCpus> running_{};
  std::vector<KernelPath> system_calls_;
  std::vector<KernelPath> waits_;
  std::vector<KernelPath> signals_;
  std::vector<std::uint64_t> root_first_;
  std::vector<std::uint64_t> leaf_first_;
};

void Machine::make_threads() {
  const std::vector<CallGraph::Module>& modules = graph_.user_modules();
  const CallGraph::Function start = modules[3].first;  // the system library that starts threads
  for (const Roster& group : kRoster) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
      ThreadState thread;
      thread.tid = group.first_tid + 4 * i;
      thread.role = group.role;
      thread.wait = random_.below(kWaits);
      const bool own_code = group.role < Role::kService;
      const CallGraph::Module& module =
          !own_code ? modules[2 + random_.below(static_cast<std::uint32_t>(modules.size()) - 2)]
          : group.role == Role::kWorker ? modules[1]
                                        : modules[0];
      const std::uint32_t entry = !own_code                     ? random_.below(module.count)
                                  : group.role == Role::kWorker ? 0
                                                                : i + 1;
      thread.stack = {{start, graph_.return_address(start, 0)},
                      {start + 1, graph_.return_address(start + 1, 0)},
                      {graph_.entry(module, entry + static_cast<std::uint32_t>(group.role)), 0}};
      for (std::uint32_t k = 0; k < group.spine; ++k) {
        Activation& top = thread.stack.back();
        const CallGraph::Function next = graph_.callee(top.function, 0, random_);
        if (next == CallGraph::kNoFunction) {
          break;
        }
        top.return_address = graph_.return_address(top.function, 0);
        thread.stack.push_back({next, 0});
      }
      thread.base = thread.stack.size();
      threads_.push_back(std::move(thread));
    }
  }
}

KernelPath Machine::make_path(std::uint32_t number, std::uint32_t depth) const {
  Random random(mix(number * 31ULL + 7));
  KernelPath path;
  const CallGraph::Module& kernel = graph_.kernel_modules()[0];
  const CallGraph::Function stub = graph_.user_modules()[3].first + 40 + number % 400;
  path.frames.push_back(graph_.return_address(stub, 0));
  path.frames.push_back(graph_.return_address(kernel.first, number % 3));
  path.last = graph_.entry(kernel, number * 7 + 3);
  for (std::uint32_t i = 0; i < depth; ++i) {
    const std::uint32_t site = random.below(graph_.site_count(path.last));
    const CallGraph::Function next = graph_.callee(path.last, site, random);
    if (next == CallGraph::kNoFunction) {
      break;
    }
    path.frames.push_back(graph_.return_address(path.last, site));
    path.last = next;
  }
  return path;
}

void Machine::make_kernel_paths() {
  for (std::uint32_t i = 0; i < kSystemCalls; ++i) {
    system_calls_.push_back(make_path(i, 1 + i % 3));
  }
  const CallGraph::Function scheduler = graph_.kernel_modules()[0].first + 100;
  for (std::uint32_t i = 0; i < kWaits; ++i) {
    waits_.push_back(make_path(1000 + i / 4, 5 + i % 4));
    waits_.back().frames.push_back(graph_.return_address(scheduler, 0));
    waits_.back().frames.push_back(graph_.return_address(scheduler + 1, 0));
  }
  for (std::uint32_t i = 0; i < kSignals; ++i) {
    signals_.push_back(make_path(2000 + i, 3 + i % 3));
    signals_.back().frames.push_back(graph_.return_address(signals_.back().last, 0));
  }
}

// The thread goes on until it is observed again.
void Machine::step(ThreadState& thread) {
  const double what = random_.unit();
  if (what >= kFarChance && what <= kStayChance) {
    return;
  }
  const std::size_t depth = thread.stack.size();
  std::size_t returns = 0;
  if (what < kFarChance) {
    returns = random_.below(static_cast<std::uint32_t>(depth - thread.base + 1));
  } else {
    returns = 1;
    while (returns < depth && random_.chance(kReturnMore)) {
      ++returns;
    }
  }
  thread.stack.resize(depth > thread.base + returns ? depth - returns : thread.base);
  call_further(thread);
}

void Machine::call_further(ThreadState& thread) {
  while (thread.stack.size() <= kDeepestUser) {
    Activation& top = thread.stack.back();
    // Four functions in five nearly always call another one; the fifth does most of its work alone.
    const double stop = (mix(top.function) & 255) < 205 ? kStopChance * 0.06 : kStopChance * 5;
    if (thread.stack.size() > thread.base + 3 && random_.chance(stop)) {
      return;
    }
    const std::uint32_t site = wander_ > 0 && random_.chance(wander_)
                                   ? random_.below(graph_.site_count(top.function))
                                   : graph_.pick_site(top.function, phase_, random_);
    const CallGraph::Function next = graph_.callee(top.function, site, random_);
    if (next == CallGraph::kNoFunction) {
      return;
    }
    top.return_address = graph_.return_address(top.function, site);
    thread.stack.push_back({next, 0});
  }
}

// Returns to a function that may block: one in `one_in` does.
void Machine::return_until(ThreadState& thread, unsigned one_in, std::uint64_t salt) {
  while (thread.stack.size() > thread.base &&
         mix(thread.stack.back().function + salt) % one_in != 0) {
    thread.stack.pop_back();
  }
}

void Machine::begin_stack(const ThreadState& thread) {
  root_first_.clear();
  for (std::size_t i = 0; i + 1 < thread.stack.size(); ++i) {
    root_first_.push_back(thread.stack[i].return_address);
  }
}

void Machine::enter_kernel(const ThreadState& thread, const KernelPath& path) {
  root_first_.push_back(graph_.return_address(thread.stack.back().function, 0));
  root_first_.insert(root_first_.end(), path.frames.begin(), path.frames.end());
}

void Machine::emit(const ThreadState& thread, std::uint32_t cpu, std::uint64_t time_ns,
                   Cause cause) {
  if (left_ == 0) {
    return;
  }
  --left_;
  leaf_first_.assign(root_first_.rbegin(), root_first_.rend());
  leaf_first_.resize(std::min(leaf_first_.size(), kMaxDepth));
  std::uint32_t kernel_frames = 0;
  while (kernel_frames < leaf_first_.size() && leaf_first_[kernel_frames] >> 63 != 0) {
    ++kernel_frames;
  }
  visit_({time_ns, thread.tid, cpu, cause, leaf_first_, kernel_frames});
}

void Machine::clock_interrupt(std::uint32_t cpu, std::uint64_t& time_ns) {
  ThreadState& thread = threads_[running_[cpu]];
  step(thread);
  begin_stack(thread);
  if (random_.chance(kKernelChance)) {
    const auto habit = static_cast<std::uint32_t>(mix(thread.stack.back().function) % 24 * 10);
    const KernelPath& call = system_calls_[(random_.skewed(40, 12) + habit) % kSystemCalls];
    enter_kernel(thread, call);
    CallGraph::Function function = call.last;
    for (int i = 0; i < 12 && !random_.chance(0.22); ++i) {
      const std::uint32_t site = graph_.pick_site(function, phase_, random_);
      const CallGraph::Function next = graph_.callee(function, site, random_);
      if (next == CallGraph::kNoFunction) {
        break;
      }
      root_first_.push_back(graph_.return_address(function, site));
      function = next;
    }
    root_first_.push_back(graph_.leaf_address(function, random_));
  } else {
    root_first_.push_back(graph_.leaf_address(thread.stack.back().function, random_));
  }
  emit(thread, cpu, time_ns, Cause::kClock);

  if (random_.chance(kWakeUpChance)) {
    step(thread);
    return_until(thread, 5, 17);
    begin_stack(thread);
    const auto habit = static_cast<std::uint32_t>(mix(thread.stack.back().function) % kSignals);
    enter_kernel(thread, signals_[(random_.skewed(3, 6) + habit) % kSignals]);
    time_ns += 20'000 + random_.below(10'000);
    emit(thread, cpu, time_ns, Cause::kWakeUp);
  }
}

std::uint32_t Machine::pick_next(std::uint32_t cpu) {
  if (cpu < kFirstWorker && random_.chance(0.5)) {
    return cpu;  // the main threads keep their processors
  }
  const std::uint32_t percent = random_.below(100);
  if (percent < 15) {
    return percent < 6 ? 0 : percent < 12 ? 1 : 2;
  }
  if (percent < 55) {
    return kFirstWorker + random_.below(15);
  }
  return percent < 67 ? kFirstService + random_.below(30) : kFirstSleeper + random_.skewed(320, 2);
}

void Machine::context_switch(std::uint32_t cpu, std::uint64_t& time_ns) {
  const std::uint32_t next = pick_next(cpu);
  ThreadState& thread = threads_[next];
  std::uint32_t wait = thread.wait;
  if (thread.role == Role::kSleeper) {
    wait += random_.chance(0.1) ? random_.below(4) : 0;
  } else {
    running_[cpu] = next;
    step(thread);
    if (random_.chance(kDeepWaitChance)) {
      return_until(thread, 6, 99);
    } else {
      const std::size_t shallow = thread.base + (mix(thread.tid) & 1);
      thread.stack.resize(std::min(thread.stack.size(), shallow));
    }
    wait += random_.skewed(4, 9);
    wait += static_cast<std::uint32_t>(mix(thread.stack.back().function) % 8);
  }
  begin_stack(thread);
  enter_kernel(thread, waits_[wait % kWaits]);
  time_ns += 1000 + random_.below(40'000);
  emit(thread, cpu, time_ns, Cause::kSwitch);
}

void Machine::run_cpu(std::uint32_t cpu, std::uint64_t time_ns) {
  const bool busy = random_.chance(cpu < kFirstWorker ? kBusyChance : kOtherBusyChance);
  if (busy) {
    clock_interrupt(cpu, time_ns);
  }
  double switches = kSwitchesPerTick;
  while (left_ > 0 && random_.unit() < switches && switches > 0) {
    switches -= 1;
    context_switch(cpu, time_ns);
  }
}

}  // namespace

std::uint64_t workload_stacks(const WorkloadOptions& options) {
  return static_cast<std::uint64_t>(static_cast<double>(kReferenceStacks) * options.scale);
}

std::vector<std::uint32_t> workload_threads() {
  std::vector<std::uint32_t> tids;
  for (const Roster& group : kRoster) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
      tids.push_back(group.first_tid + 4 * i);
    }
  }
  return tids;
}

void generate_workload(const WorkloadOptions& options,
                       const std::function<void(const Observation&)>& visit) {
  Machine(options, visit).run();
}

}  // namespace stackpack::bench
