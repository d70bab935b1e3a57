#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/descriptor.h"
#include "io/open_requests.h"
#include "stackpack/names.h"
#include "stackpack/result.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::app {

/// What is to be read for some addresses, and how.
struct ReadPlan {
  std::vector<io::Descriptor> files;  ///< open for the reader
  std::uint64_t bytes = 0;            ///< of them
  unsigned new_files = 0;             ///< that the reader may ask for besides
  io::OpenFile open{};                ///< opens those that it may have
  std::string found;                  ///< the file; empty: none
  std::string debug_file;             ///< the one with what was stripped from it
  std::string reason;                 ///< why there is none
  bool replaced = false;              ///< the file at its path is not the recorded one
  /// Reads the files; called in a process of its own. Empty: there is nothing to read.
  std::function<Status(const symbolize::SymbolRequest&, symbolize::NameCollector&)> read{};
};

/// Addresses of one owner that are to be named.
struct NamingTask {
  std::vector<std::uint64_t> addresses;  ///< as SymbolRequest::addresses
  std::function<ReadPlan()> plan;        ///< called when it is its turn
};

/// What was found for one.
struct NamingAnswer {
  Names names;
  std::string found;
  std::string debug_file;
  std::string reason;   ///< why there is nothing, or not all
  bool failed = false;  ///< the reader crashed, or passed a limit
  bool replaced = false;
  symbolize::ReadLosses losses;
};

struct NamingOptions {
  bool inlines = true;
  unsigned jobs = 1;        ///< tasks at a time
  bool unconfined = false;  ///< also where the kernel does not confine a reader
  bool lines = true;        ///< as symbolize::SymbolRequest::lines
};

/// Does tasks, several at a time, each in a process of its own; the answers come in the order of
/// the tasks. `done(number of tasks)` returns false to stop.
/// Errors: kCancelled; kResource.
Result<std::vector<NamingAnswer>> name_all(const std::vector<NamingTask>& tasks,
                                           const NamingOptions& options,
                                           const std::function<bool(std::size_t)>& done);

}  // namespace stackpack::app
