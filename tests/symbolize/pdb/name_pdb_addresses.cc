// Names addresses from a PDB: name_pdb_addresses FILE.pdb ADDRESSES.txt [REPEAT]
//
// ADDRESSES has one hexadecimal RVA a line, ascending. A line of the answer is, apart by TABs, the
// RVA, `function+offset` (hexadecimal) with its file and line, and the same of each inlined
// function, outermost first; `-` for what is not known. With REPEAT the names are found so many
// times, and the seconds of the fastest time are written to standard error.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "io/byte_source.h"
#include "symbolize/name_collector.h"
#include "symbolize/pdb/pdb_reader.h"

namespace {

namespace sp = stackpack;

std::vector<std::uint64_t> read_addresses(const char* path) {
  std::ifstream in(path);
  std::vector<std::uint64_t> addresses;
  for (std::string line; std::getline(in, line);) {
    std::uint64_t address = 0;
    std::from_chars(line.data(), line.data() + line.size(), address, 16);
    addresses.push_back(address);
  }
  return addresses;
}

// The last row that has the address.
template <typename Row>
const Row* row_at(const std::vector<Row>& rows, std::uint64_t address) {
  auto at =
      std::upper_bound(rows.begin(), rows.end(), address,
                       [](std::uint64_t wanted, const Row& row) { return wanted < row.start; });
  for (int tries = 0; tries < 8 && at != rows.begin(); ++tries) {
    --at;
    if (address - at->start < at->size) {
      return &*at;
    }
  }
  return nullptr;
}

std::string place(const sp::Names& names, std::uint32_t file, std::uint32_t line) {
  return line == 0 ? "-" : std::string(names.texts[file]) + ":" + std::to_string(line);
}

void print(const sp::Names& names, std::uint64_t address) {
  std::cout << std::hex << address;
  const sp::Function* const function = row_at(names.functions, address);
  if (function == nullptr) {
    std::cout << "\tnone\n";
    return;
  }
  const sp::CodeLine* const line = row_at(names.lines, address);
  std::string innermost = line == nullptr ? "-" : place(names, line->file, line->line);
  std::vector<std::string> chain;
  for (std::uint32_t at = line == nullptr ? sp::kNoInline : line->inlined; at != sp::kNoInline;
       at = names.inlined[at].parent) {
    const sp::InlinedCall& call = names.inlined[at];
    chain.push_back(std::string(names.texts[call.name]) + "\t" + innermost);
    innermost = place(names, call.call_file, call.call_line);
  }
  std::cout << '\t' << names.texts[function->name] << '+' << address - function->start << '\t'
            << innermost;
  for (auto call = chain.rbegin(); call != chain.rend(); ++call) {
    std::cout << '\t' << *call;
  }
  std::cout << '\n';
}

int name_addresses(const char* path, const std::vector<std::uint64_t>& addresses, int repeat) {
  using Clock = std::chrono::steady_clock;
  const auto source = sp::io::open_regular_file(path);
  if (!source) {
    std::cerr << path << ": " << message(source.error()) << '\n';
    return 1;
  }
  sp::Names names;
  double least = 1e9;
  for (int run = 0; run < std::max(repeat, 1); ++run) {
    const auto begin = Clock::now();
    const auto pdb = sp::symbolize::PdbReader::open(**source);
    if (!pdb) {
      std::cerr << path << ": " << message(pdb.error()) << '\n';
      return 1;
    }
    sp::symbolize::NameCollector collector;
    sp::symbolize::SymbolRequest request;
    request.addresses = addresses;
    const auto damage = pdb->name(request, collector);
    if (!damage) {
      std::cerr << path << ": " << message(damage.error()) << '\n';
      return 1;
    }
    names = std::move(collector).finish();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
    if (run == 0) {
      std::cerr << "damaged object files " << damage->modules << ", tables " << damage->tables
                << '\n';
    }
  }
  for (const std::uint64_t address : addresses) {
    print(names, address);
  }
  if (repeat > 0) {
    std::cerr << addresses.size() << " addresses in " << least << " s; " << names.functions.size()
              << " functions, " << names.lines.size() << " lines, " << names.inlined.size()
              << " inlined calls\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: name_pdb_addresses FILE.pdb ADDRESSES.txt [REPEAT]\n";
    return 1;
  }
  return name_addresses(argv[1], read_addresses(argv[2]), argc > 3 ? std::stoi(argv[3]) : 0);
}
