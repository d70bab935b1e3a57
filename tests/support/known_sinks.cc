#include "support/known_sinks.h"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/known_lines.h"
#include "support/sanitizer.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

constexpr int kSinksOfATest = 12;
constexpr std::size_t kMostRows = 5000;

std::string number(std::uint64_t value) {
  return std::to_string(value) + ' ';
}

/// Tables over all bytes of a capture have other steps then.
bool shortens_tables() {
  return byte_step() != 1 || every_byte();
}

std::string text_of_tables(const capture::SystemTables& tables) {
  std::string text;
  for (const Process& row : tables.processes) {
    text += number(row.pid) + number(row.parent_pid) + number(row.start_ns) + number(row.end_ns);
    text += row.name + ' ' + row.command_line + '\n';
  }
  for (const Thread& row : tables.threads) {
    text += number(row.pid) + number(row.tid) + number(row.start_ns) + number(row.end_ns);
    text += row.name + '\n';
  }
  for (const Module& row : tables.modules) {
    text += number(row.pid) + number(row.base) + number(row.size) + number(row.file_offset);
    text += number(row.start_ns) + number(row.end_ns) + row.path + ' ';
    for (const std::uint8_t byte : row.build_id) {
      text += number(byte);
    }
    text += row.debug_name + '\n';
  }
  for (const MetadataEntry& row : tables.metadata) {
    text += row.key + '=' + row.value + '\n';
  }
  return text;
}

std::string text_of_sink(const CollectingSink& sink) {
  std::string text;
  for (const Event& event : sink.events) {
    text += event.name + number(event.has_weight);
  }
  for (const CollectingSink::Row& row : sink.settled()) {
    const Sample& sample = row.sample;
    text += number(sample.time_ns) + number(sample.pid) + number(sample.tid) + number(sample.cpu);
    text += number(sample.event) + number(sample.weight) + number(sample.flags);
    text += number(static_cast<std::uint64_t>(sample.origin)) + row.stack + '\n';
  }
  text += text_of_tables(sink.system_facts.finish());
  for (const LossCounter& loss : sink.counters.sorted()) {
    text += loss.name + ' ' + number(loss.count) + number(static_cast<std::uint64_t>(loss.kind));
    text += number(loss.first_offset) + '\n';
  }
  return text;
}

using Lines = std::map<std::string, std::string>;

/// The stored lines. Written anew at the end of the process where that is asked for.
class KnownSinks {
 public:
  KnownSinks() : path_(source_folder() + "/tests/support/known_sinks.txt") {
    std::ifstream in(path_, std::ios::binary);
    std::string line;
    while (std::getline(in, line)) {
      const std::size_t digest = line.rfind(' ');
      lines_[line.substr(0, digest)] = line.substr(digest + 1);
    }
  }
  KnownSinks(const KnownSinks&) = delete;
  KnownSinks& operator=(const KnownSinks&) = delete;
  ~KnownSinks() {
    if (rewrites_) {
      std::ofstream out(path_, std::ios::binary);
      for (const auto& [key, digest] : lines_) {
        out << key << ' ' << digest << '\n';
      }
    }
  }

  void check(const std::string& key, const std::string& digest) {
    if (rewrites_) {
      lines_[key] = digest;
    }
    CHECK_MESSAGE(lines_[key] == digest, "another answer than known_sinks.txt has for " << key);
  }

 private:
  std::string path_;
  Lines lines_;
  bool rewrites_ = std::getenv("STACKPACK_REWRITE") != nullptr;
};

}  // namespace

void check_known_sink(const CollectingSink& sink) {
  static std::map<std::string, int> seen;
  static KnownSinks known;
  const auto* const test = doctest::getContextOptions()->currentTest;
  if (test == nullptr || shortens_tables() || std::uncaught_exceptions() != 0) {
    return;
  }
  std::string file = test->m_file.c_str();
  const std::size_t folder = file.find("tests/formats/");
  if (folder == std::string::npos || std::string(test->m_test_suite).find("slow") == 0) {
    return;
  }
  std::string key = file.substr(folder) + ": " + test->m_name;
  const int of_test = seen[key]++;
  if (of_test >= kSinksOfATest || sink.rows.size() > kMostRows) {
    return;
  }
  key += ' ' + std::to_string(of_test);
  known.check(key, digest_of(text_of_sink(sink)));
}

}  // namespace stackpack::test
