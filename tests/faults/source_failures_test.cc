// An error of the input or of the sink ends a conversion as that error, wherever it comes: it is
// never taken for the end of the capture, or for damage.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/etl_source.h"
#include "formats/firefox/firefox_source.h"
#include "formats/folded/folded_source.h"
#include "formats/jfr/jfr_source.h"
#include "formats/nettrace/nettrace_source.h"
#include "formats/otlp/otlp_source.h"
#include "formats/perf/perf_source.h"
#include "formats/perf_script/perf_script_source.h"
#include "formats/pprof/pprof_source.h"
#include "formats/speedscope/speedscope_source.h"
#include "formats/v8/v8_source.h"
#include "support/etl_reading.h"
#include "support/failing_source.h"
#include "support/perf_writer.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::FailingSink;
using test::FailingSource;
using test::TestBytes;

namespace {

using Reading = std::function<Result<capture::ByteAccount>(std::unique_ptr<FailingSource>,
                                                           capture::CallstackSink&)>;

struct Input {
  const char* name;
  std::vector<std::byte> bytes;
  bool seekable;
  Reading read;
};

std::vector<std::byte> testdata(const char* name) {
  return test::read_test_file(test::source_folder() + "/testdata/" + name);
}

Result<capture::ByteAccount> read_perf(std::unique_ptr<FailingSource> source,
                                       capture::CallstackSink& sink) {
  perf::Input input;
  input.main = std::move(source);
  return perf::read_capture(input, sink, {});
}

Result<capture::ByteAccount> read_etl(std::unique_ptr<FailingSource> source,
                                      capture::CallstackSink& sink) {
  etl::ReadOptions options;
  options.read_ahead = false;  // reads come in one order
  return etl::read_capture(*source, sink, options);
}

// A session of two files, of which the first one fails.
Result<capture::ByteAccount> read_session(std::unique_ptr<FailingSource> source,
                                          capture::CallstackSink& sink) {
  etl::ReadOptions options;
  options.read_ahead = false;
  const std::vector<std::byte> bytes = testdata("sampled.x86.etl");
  FailingSource second(bytes, FailingSource::kNever);
  const std::array<io::ByteSource*, 2> both = {source.get(), &second};
  auto account = etl::read_session(both, sink, options);
  if (account) {
    CHECK(account->balanced());
    account->total -= bytes.size();
    account->parsed -= bytes.size();
  }
  return account;
}

std::vector<std::byte> deferred_chains() {
  const test::PerfWriter w;
  test::TestAttr attr;
  std::vector<TestBytes> records;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::uint64_t cookie = 70 + i / 3;
    records.push_back(w.sample(
        1, 2, 10 + i, {test::kContextKernel, 0x9000 + i, test::kContextUserDeferred, cookie}));
    if (i % 3 == 2 && i < 5) {
      TestBytes deferred;
      deferred.u64(cookie).u64(2).u64(test::kContextUser).u64(0x10).u32(1).u32(2).u64(20 + i);
      records.push_back(w.record(perf::RecordType::kCallchainDeferred, 2, deferred));
    }
  }
  return w.pipe({attr}, records);
}

// Halves of callstacks of all kinds, some of which wait for ever.
std::vector<std::byte> stacks_of_all_kinds(etl::CompressionFormat compression) {
  test::EtlOptions options;
  options.buffer_size = 1024;
  options.compression = compression;
  return test::make_etl(options, [](test::EtlWriter& out) {
    constexpr std::uint64_t kKernel = 0xFFFFF80000000000;
    for (std::uint32_t i = 0; i < 24; ++i) {
      const auto cpu = static_cast<std::uint16_t>(i % 2);
      const std::uint64_t clock = 2'000'000 + 100 * i;
      const std::uint32_t tid = 10 + cpu;
      out.sample(cpu, clock, tid, kKernel + 1);
      if (i % 3 == 0) {
        out.key_reference(cpu, clock + 1, clock, 5, tid, 0x99, true);
      } else {
        out.stack(cpu, clock + 1, clock, 5, tid, {kKernel + 1, kKernel + i});
      }
      if (i % 4 == 0) {
        out.stack(cpu, clock + 2, clock, 5, tid, {0x7FF600000000 + std::uint64_t{i}});
      }
      out.provider(cpu, clock + 3, etl::Guid{}, 9, 1, 0, tid, 5, TestBytes(),
                   {out.stack_item(i % 5, {kKernel + 2}), out.key_item(i % 7, 0x98)});
    }
    out.key_definition(0, 2'100'000, 0x99, {kKernel + 8});
    out.key_definition(0, 2'100'001, 0x98, {0x1234});
  });
}

// A file, read by one of the readers with a source and options.
template <typename Options, Result<capture::ByteAccount> (*Read)(
                                io::ByteSource&, capture::CallstackSink&, const Options&)>
Input of_file(const char* name, bool seekable, const std::string& folder) {
  return {name, test::read_test_file(test::source_folder() + folder + name), seekable,
          [](std::unique_ptr<FailingSource> source, capture::CallstackSink& sink) {
            return Read(*source, sink, {});
          }};
}

template <typename Options, Result<capture::ByteAccount> (*Read)(
                                io::ByteSource&, capture::CallstackSink&, const Options&)>
Input of_corpus(const char* name) {
  return of_file<Options, Read>(name, true, "/fuzz/corpus/");
}

std::vector<Input> documents() {
  std::vector<Input> all;
  for (const char* name : {"import_speedscope/sampled", "import_speedscope/evented"}) {
    all.push_back(of_corpus<speedscope::ReadOptions, speedscope::read_capture>(name));
  }
  for (const char* name : {"import_firefox/old", "import_firefox/new"}) {
    all.push_back(of_corpus<firefox::ReadOptions, firefox::read_capture>(name));
  }
  for (const char* name : {"import_v8/cpu", "import_v8/heap"}) {
    all.push_back(of_corpus<v8::ReadOptions, v8::read_capture>(name));
  }
  return all;
}

std::vector<Input> inputs() {
  std::vector<Input> all;
  for (const char* name : {"tiny.perf.data", "tiny-pipe.perf.data", "tiny-zstd.perf.data"}) {
    all.push_back({name, testdata(name), true, read_perf});
  }
  all.push_back({"a pipe", testdata("tiny-pipe.perf.data"), false, read_perf});
  all.push_back({"deferred chains", deferred_chains(), false, read_perf});
  all.push_back({"etl", testdata("sampled.x64.etl"), true, read_etl});
  all.push_back({"etl, compressed", testdata("sampled.x64.keys.xpress.etl"), true, read_etl});
  for (const auto compression : {etl::CompressionFormat::kNone, etl::CompressionFormat::kXpress}) {
    all.push_back({"etl, halves of all kinds", stacks_of_all_kinds(compression), true, read_etl});
  }
  all.push_back({"folded", TestBytes().text("main;a 1\nmain;b 2\n\nnone\nmain;a;c 3\n").bytes,
                 false, [](std::unique_ptr<FailingSource> source, capture::CallstackSink& sink) {
                   return folded::read_capture(*source, sink, {});
                 }});
  all.push_back({"perf script",
                 TestBytes()
                     .text("a 7/7 1.000000: 1 cycles: \n\t 10 f (/a)\n\nnone\n"
                           "a 7/7 2.000000: 1 cycles: \n\t 10 g (/a)\n")
                     .bytes,
                 false, [](std::unique_ptr<FailingSource> source, capture::CallstackSink& sink) {
                   return perf_script::read_capture(*source, sink, {});
                 }});
  // A profile of a sample with two times; a dictionary of empty texts.
  all.push_back({"otlp",
                 TestBytes()
                     .text(std::string("\x0a\x1a\x12\x18\x12\x16\x12\x14\x22\x00\x2a\x10"
                                       "\x01\x00\x00\x00\x00\x00\x00\x00"
                                       "\x02\x00\x00\x00\x00\x00\x00\x00"
                                       "\x12\x02\x2a\x00",
                                       32))
                     .bytes,
                 true, [](std::unique_ptr<FailingSource> source, capture::CallstackSink& sink) {
                   return otlp::read_capture(*source, sink, {});
                 }});
  // Sample types, a location, two samples.
  all.push_back({"pprof",
                 TestBytes()
                     .text(std::string("\x0a\x04\x08\x01\x10\x02\x22\x04\x08\x01\x18\x10"
                                       "\x12\x06\x0a\x01\x01\x12\x01\x07"
                                       "\x12\x06\x0a\x01\x01\x12\x01\x08"
                                       "\x32\x00\x32\x01s\x32\x01u",
                                       36))
                     .bytes,
                 true, [](std::unique_ptr<FailingSource> source, capture::CallstackSink& sink) {
                   return pprof::read_capture(*source, sink, {});
                 }});
  for (Input& document : documents()) {
    all.push_back(std::move(document));
  }
  for (const char* name : {"import_jfr/compressed", "import_jfr/plain"}) {
    all.push_back(of_corpus<jfr::ReadOptions, jfr::read_capture>(name));
  }
  for (const char* name : {"small.nettrace", "small.v6.nettrace", "small.netperf"}) {
    for (const bool seekable : {true, false}) {
      all.push_back(
          of_file<nettrace::ReadOptions, nettrace::read_capture>(name, seekable, "/testdata/"));
    }
  }
  all.push_back({"a session", testdata("sampled.x64.etl"), true, read_session});
  return all;
}

std::unique_ptr<FailingSource> source_of(const Input& input, std::uint64_t fail_at) {
  return std::make_unique<FailingSource>(input.bytes, fail_at, input.seekable,
                                         input.seekable ? ~std::size_t{0} : 512);
}

}  // namespace

TEST_CASE("source failures: an input that fails at any read") {
  for (const Input& input : inputs()) {
    CAPTURE(input.name);
    bool ended = false;
    std::uint64_t refused = 0;
    for (std::uint64_t fail_at = 0; !ended; ++fail_at) {
      REQUIRE(fail_at < 10'000);
      CAPTURE(fail_at);
      auto source = source_of(input, fail_at);
      test::CollectingSink sink;
      // perf takes the source over; nothing else says how often it was read.
      const auto account = input.read(std::move(source), sink);
      ended = account.has_value();
      if (!ended) {
        ++refused;
        CHECK(account.error().code == ErrorCode::kIo);
        CHECK(account.error().os_error == EIO);
      } else {
        CHECK(account->balanced());
        CHECK(account->total == input.bytes.size());
        CHECK_FALSE(sink.rows.empty());
      }
    }
    CHECK(refused > 0);
  }
}

TEST_CASE("source failures: a sink that fails at any call ends the conversion with its error") {
  for (const Input& input : inputs()) {
    CAPTURE(input.name);
    FailingSink endless(FailingSource::kNever);
    const auto whole = input.read(source_of(input, FailingSource::kNever), endless);
    REQUIRE(whole.has_value());
    REQUIRE(endless.calls() > 0);
    for (std::uint64_t fail_at = 0; fail_at < endless.calls(); ++fail_at) {
      CAPTURE(fail_at);
      FailingSink sink(fail_at);
      const auto account = input.read(source_of(input, FailingSource::kNever), sink);
      REQUIRE_FALSE(account.has_value());
      CHECK(account.error().code == ErrorCode::kLimit);
      CHECK(account.error().offset == 4711);
      CHECK(sink.calls() == fail_at + 1);  // nothing more was asked of it
    }
  }
}

TEST_CASE("damage: a document that is cut, or wrong in any byte, is an error or is accounted for") {
  const auto read = [](const Input& input, const std::vector<std::byte>& bytes) {
    test::CollectingSink sink;
    const auto account =
        input.read(std::make_unique<FailingSource>(bytes, FailingSource::kNever, true), sink);
    CHECK((!account || (account->balanced() && account->total == bytes.size())));
    CHECK((account || account.error().code == ErrorCode::kCorrupt ||
           account.error().code == ErrorCode::kUnsupported));
    return account.has_value();
  };
  for (const Input& input : documents()) {
    CAPTURE(input.name);
    // What follows the document is blank.
    std::size_t size = input.bytes.size();
    while (size != 0 && input.bytes[size - 1] != std::byte{'}'}) {
      --size;
    }
    REQUIRE(read(input, input.bytes));
    for (std::size_t cut = 0; cut < size; ++cut) {
      CAPTURE(cut);
      CHECK_FALSE(read(
          input, {input.bytes.begin(), input.bytes.begin() + static_cast<std::ptrdiff_t>(cut)}));
    }
    std::size_t refused = 0;
    for (std::size_t at = 0; at < size; ++at) {
      CAPTURE(at);
      for (const auto mask : {std::byte{0xFF}, std::byte{0x10}, std::byte{0x01}}) {
        std::vector<std::byte> bytes = input.bytes;
        bytes[at] ^= mask;
        refused += read(input, bytes) ? 0U : 1U;
      }
    }
    CHECK(refused > 0);
  }
}
