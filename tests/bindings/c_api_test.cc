#include "stackpack/c_api.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/names.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

struct Visit {
  std::vector<stackpack_sample> samples;
  bool stop = false;
};

int collect(void* context, const stackpack_sample* samples, std::size_t count) {
  auto* const visit = static_cast<Visit*>(context);
  visit->samples.insert(visit->samples.end(), samples, samples + count);
  return visit->stop ? 1 : 0;
}

int throwing(void* /*context*/, const stackpack_sample* /*samples*/, std::size_t /*count*/) {
  throw 7;
}

TEST_SUITE("c api") {
  TEST_CASE("c api: gives what the C++ reader gives") {
    const SpkContent content = random_content(51, 200, 70'000);
    const std::vector<std::byte> file = spk_bytes(content);
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);

    stackpack_summary summary{};
    CHECK(stackpack_get_summary(reader, &summary) == STACKPACK_USAGE);  // struct_size is not set
    summary.struct_size = sizeof summary;
    REQUIRE(stackpack_get_summary(reader, &summary) == STACKPACK_OK);
    CHECK(summary.file_bytes == file.size());
    CHECK(summary.samples == content.samples.size());
    CHECK(summary.stacks == content.stacks.size());
    CHECK(summary.has_samples == 1);
    CHECK(stackpack_verify(reader) == STACKPACK_OK);

    std::uint32_t id = 0;
    for (const RootFirstStack& stack : content.stacks) {
      std::array<stackpack_frame, 64> frames{};
      std::size_t depth = 0;
      REQUIRE(stackpack_get_callstack(reader, id, frames.data(), frames.size(), &depth) ==
              STACKPACK_OK);
      REQUIRE(depth == stack.size());
      for (std::size_t i = 0; i < depth; ++i) {
        const Frame& expected = stack[depth - 1 - i];
        REQUIRE(frames[i].address == expected.address);
        REQUIRE(frames[i].mode == static_cast<std::uint32_t>(expected.mode));
      }
      ++id;
    }

    Visit all;
    REQUIRE(stackpack_visit_samples(reader, 0, UINT64_MAX, nullptr, nullptr,
                                    sizeof(stackpack_sample), collect, &all) == STACKPACK_OK);
    REQUIRE(all.samples.size() == content.samples.size());
    for (std::size_t i = 0; i < all.samples.size(); ++i) {
      const stackpack_sample& sample = all.samples[i];
      const StoredSample& expected = content.samples[i];
      REQUIRE(sample.time_ns == expected.time_ns);
      REQUIRE(sample.weight == expected.weight);
      REQUIRE(sample.pid == expected.pid);
      REQUIRE(sample.tid == expected.tid);
      REQUIRE(sample.cpu == expected.cpu);
      REQUIRE(sample.event == expected.event);
      REQUIRE(sample.stack == expected.stack);
      REQUIRE(sample.origin == static_cast<std::uint8_t>(expected.origin));
      REQUIRE(sample.flags == expected.flags);
    }

    Visit some;
    some.stop = true;
    const std::uint32_t tid = 105;
    REQUIRE(stackpack_visit_samples(reader, 0, UINT64_MAX, nullptr, &tid, sizeof(stackpack_sample),
                                    collect, &some) == STACKPACK_OK);
    CHECK(!some.samples.empty());
    CHECK(some.samples.size() < content.samples.size() / 10);
    CHECK(some.samples.front().tid == tid);

    const char* name = nullptr;
    REQUIRE(stackpack_get_event_name(reader, 1, &name) == STACKPACK_OK);
    CHECK(std::string(name) == "sched:sched_switch");
    stackpack_close(reader);
  }

  TEST_CASE("c api: what makes no sense is refused") {
    const std::vector<std::byte> file = spk_bytes(random_content(52, 20, 20));
    stackpack_reader* reader = nullptr;
    CHECK(stackpack_open(nullptr, 0, &reader) == STACKPACK_USAGE);
    CHECK(stackpack_open("x", 0, nullptr) == STACKPACK_USAGE);
    CHECK(stackpack_open_memory(nullptr, 1, 0, &reader) == STACKPACK_USAGE);
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 1, &reader) == STACKPACK_OK);
    std::size_t depth = 99;
    CHECK(stackpack_get_callstack(reader, 20, nullptr, 0, &depth) == STACKPACK_USAGE);
    CHECK(stackpack_get_callstack(reader, 0, nullptr, 5, &depth) == STACKPACK_USAGE);
    CHECK(stackpack_get_callstack(reader, 0, nullptr, 0, nullptr) == STACKPACK_USAGE);
    CHECK(depth == 99);
    CHECK(stackpack_get_callstack(reader, 0, nullptr, 0, &depth) == STACKPACK_OK);
    CHECK(depth > 0);
    CHECK(depth != 99);
    CHECK(stackpack_get_callstack(nullptr, 0, nullptr, 0, &depth) == STACKPACK_USAGE);
    CHECK(stackpack_get_summary(reader, nullptr) == STACKPACK_USAGE);
    CHECK(stackpack_verify(nullptr) == STACKPACK_USAGE);
    constexpr std::size_t kRow = sizeof(stackpack_sample);
    CHECK(stackpack_visit_samples(reader, 0, 1, nullptr, nullptr, kRow, nullptr, nullptr) ==
          STACKPACK_USAGE);
    CHECK(stackpack_visit_samples(reader, 0, UINT64_MAX, nullptr, nullptr, kRow, throwing,
                                  nullptr) == STACKPACK_USAGE);
    Visit none;
    for (const std::size_t size : {std::size_t{0}, kRow - 8, kRow + 1}) {
      CHECK(stackpack_visit_samples(reader, 0, UINT64_MAX, nullptr, nullptr, size, collect,
                                    &none) == STACKPACK_USAGE);
    }
    CHECK(none.samples.empty());
    const char* name = nullptr;
    CHECK(stackpack_get_event_name(reader, 2, &name) == STACKPACK_USAGE);
    stackpack_close(reader);
    stackpack_close(nullptr);
  }

  TEST_CASE("c api: failures say why and where") {
    const auto latest = [] {
      stackpack_error error{};
      error.struct_size = sizeof error;
      REQUIRE(stackpack_get_error(&error) == STACKPACK_OK);
      return error;
    };
    stackpack_reader* reader = nullptr;
    CHECK(stackpack_open("/nonexistent/file.spk", 0, &reader) == STACKPACK_NOT_FOUND);
    CHECK(reader == nullptr);
    CHECK(latest().status == STACKPACK_NOT_FOUND);
    CHECK(latest().os_error == ENOENT);
    CHECK(latest().offset == STACKPACK_NO_OFFSET);
    const std::array<char, 100> zeros{};
    CHECK(stackpack_open_memory(zeros.data(), zeros.size(), 0, &reader) == STACKPACK_CORRUPT);
    CHECK(std::string(latest().what) == "spk: not a .spk file");
    CHECK(latest().os_error == 0);

    std::vector<std::byte> file = spk_bytes(random_content(52, 20, 20));
    file[40] ^= std::byte{1};  // in the first block
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    CHECK(stackpack_verify(reader) == STACKPACK_CORRUPT);
    CHECK(latest().offset == 32);
    // Another thread has failures of its own.
    std::thread([&] { CHECK(latest().status == STACKPACK_OK); }).join();
    stackpack_close(reader);

    for (int status = STACKPACK_OK; status <= STACKPACK_OUT_OF_MEMORY + 1; ++status) {
      CHECK(std::strlen(stackpack_status_text(static_cast<stackpack_status>(status))) > 3);
    }
  }
}

std::string text_of(const stackpack_text& text);

template <typename Row>
Row row_of(const stackpack_tables* tables, std::size_t number,
           stackpack_status (*get)(const stackpack_tables*, std::size_t, Row*)) {
  Row row{};
  row.struct_size = sizeof row;
  REQUIRE(get(tables, number, &row) == STACKPACK_OK);
  return row;
}

TEST_SUITE("c api: tables") {
  TEST_CASE("c api: rows are those of the C++ reader") {
    SpkContent content = random_content(53, 5, 10);
    Process process;
    process.pid = 7;
    process.parent_pid = 1;
    process.start_ns = 5;
    process.inherits_mappings = true;
    process.name = "worker";
    process.command_line = "worker --fast";
    content.tables.processes = {process};
    Thread thread;
    thread.pid = 7;
    thread.tid = 8;
    thread.end_ns = 90;
    thread.name = "reader";
    content.tables.threads = {thread};
    Module module;
    module.pid = 7;
    module.base = 0x1000;
    module.size = 0x2000;
    module.file_offset = 0x400;
    module.path = "/bin/worker";
    module.build_id_kind = BuildIdKind::kGnu;
    module.build_id = {0xAB, 0xCD};
    module.debug_name = "worker.pdb";
    content.tables.modules = {module};
    content.tables.metadata = {{"hostname", "box"}, {"os", ""}};
    const std::vector<std::byte> file = spk_bytes(content);
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    stackpack_tables* tables = nullptr;
    REQUIRE(stackpack_load_tables(reader, &tables) == STACKPACK_OK);
    stackpack_close(reader);  // the tables stay

    stackpack_table_sizes sizes{};
    sizes.struct_size = sizeof sizes;
    REQUIRE(stackpack_get_table_sizes(tables, &sizes) == STACKPACK_OK);
    CHECK(sizes.events == 2);
    CHECK(sizes.processes == 1);
    CHECK(sizes.threads == 1);
    CHECK(sizes.modules == 1);
    CHECK(sizes.metadata == 2);

    CHECK(text_of(row_of(tables, 1, stackpack_get_event).name) == "sched:sched_switch");
    const auto a_process = row_of(tables, 0, stackpack_get_process);
    CHECK(a_process.pid == 7);
    CHECK(a_process.parent_pid == 1);
    CHECK(a_process.start_ns == 5);
    CHECK(a_process.end_ns == STACKPACK_UNKNOWN_TIME);
    CHECK(a_process.inherits_mappings == 1);
    CHECK(text_of(a_process.name) == "worker");
    CHECK(text_of(a_process.command_line) == "worker --fast");
    const auto a_thread = row_of(tables, 0, stackpack_get_thread);
    CHECK(a_thread.tid == 8);
    CHECK(a_thread.end_ns == 90);
    CHECK(text_of(a_thread.name) == "reader");
    const auto a_module = row_of(tables, 0, stackpack_get_module);
    CHECK(a_module.pid == 7);
    CHECK(a_module.base == 0x1000);
    CHECK(a_module.size == 0x2000);
    CHECK(a_module.file_offset == 0x400);
    CHECK(a_module.build_id_kind == STACKPACK_BUILD_ID_GNU);
    REQUIRE(a_module.build_id_size == 2);
    CHECK(a_module.build_id[1] == 0xCD);
    CHECK(text_of(a_module.path) == "/bin/worker");
    CHECK(text_of(a_module.debug_name) == "worker.pdb");
    const auto a_fact = row_of(tables, 1, stackpack_get_metadata);
    CHECK(text_of(a_fact.key) == "os");
    CHECK(a_fact.value.data == nullptr);

    stackpack_metadata beyond{};
    beyond.struct_size = sizeof beyond;
    CHECK(stackpack_get_metadata(tables, 2, &beyond) == STACKPACK_USAGE);
    CHECK(stackpack_get_metadata(tables, 0, nullptr) == STACKPACK_USAGE);
    stackpack_free_tables(tables);
    stackpack_free_tables(nullptr);
  }

  TEST_CASE("c api: a struct of an earlier version gets the fields that it has") {
    const std::vector<std::byte> file = spk_bytes(random_content(54, 5, 10));
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    stackpack_summary summary{};
    summary.struct_size = offsetof(stackpack_summary, samples);
    summary.samples = 99;
    REQUIRE(stackpack_get_summary(reader, &summary) == STACKPACK_OK);
    CHECK(summary.file_bytes == file.size());
    CHECK(summary.samples == 99);
    CHECK(summary.struct_size == offsetof(stackpack_summary, samples));
    stackpack_close(reader);
  }

  TEST_CASE("c api: rows of a later version lie further apart and end in zeros") {
    struct Later {
      stackpack_sample known;
      std::uint64_t added;
    };
    const SpkContent content = random_content(56, 20, 30);
    const std::vector<std::byte> file = spk_bytes(content);
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    std::vector<Later> rows;
    const auto keep = [](void* context, const stackpack_sample* samples, std::size_t count) {
      const auto* const first = reinterpret_cast<const std::byte*>(samples);
      for (std::size_t i = 0; i < count; ++i) {
        Later row{{}, 1};
        std::memcpy(&row, first + i * sizeof(Later), sizeof row);
        static_cast<std::vector<Later>*>(context)->push_back(row);
      }
      return 0;
    };
    CHECK(stackpack_visit_samples(reader, 0, UINT64_MAX, nullptr, nullptr, sizeof(Later), keep,
                                  &rows) == STACKPACK_OK);
    REQUIRE(rows.size() == content.samples.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(rows[i].known.time_ns == content.samples[i].time_ns);
      CHECK(rows[i].known.stack == content.samples[i].stack);
      CHECK(rows[i].added == 0);
    }
    stackpack_close(reader);
  }

  TEST_CASE("c api: counts of a file without samples") {
    const SpkContent content = random_content(55, 50, 500);
    spk::WriterOptions options;
    options.samples = false;
    const std::vector<std::byte> file = spk_bytes(content, options);
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    std::uint64_t samples = 0;
    const auto add = [](void* context, const stackpack_stack_count* counts, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        *static_cast<std::uint64_t*>(context) += counts[i].samples;
      }
      return 0;
    };
    CHECK(stackpack_visit_counts(reader, sizeof(stackpack_stack_count), add, &samples) ==
          STACKPACK_OK);
    CHECK(samples == 500);
    stackpack_close(reader);
    const std::vector<std::byte> whole = spk_bytes(content);
    REQUIRE(stackpack_open_memory(whole.data(), whole.size(), 0, &reader) == STACKPACK_OK);
    CHECK(stackpack_visit_counts(reader, sizeof(stackpack_stack_count), add, &samples) ==
          STACKPACK_USAGE);
    stackpack_close(reader);
  }
}

std::string text_of(const stackpack_text& text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

TEST_SUITE("c api: names") {
  TEST_CASE("c api: locations are those of stackpack::Symbols") {
    SpkContent content = random_content(51, 5, 10);
    Module module;
    module.pid = 7;
    module.base = 0x1000;
    module.size = 0x1000;
    module.path = "/lib/a.so";
    content.tables.modules = {module};
    content.add_names = [](spk::NameWriter& names) {
      Function function;
      function.owner = FunctionOwner::kImage;
      function.start = 0x100;
      function.size = 0x10;
      return names.add(function, {"f", "_f", "f.c"});
    };
    const std::vector<std::byte> file = spk_bytes(content);
    stackpack_reader* reader = nullptr;
    REQUIRE(stackpack_open_memory(file.data(), file.size(), 0, &reader) == STACKPACK_OK);
    stackpack_symbols* symbols = nullptr;
    REQUIRE(stackpack_load_symbols(reader, &symbols) == STACKPACK_OK);
    stackpack_close(reader);
    const std::array<stackpack_frame, 3> frames{
        {{0x1100, STACKPACK_MODE_USER}, {0x1110, STACKPACK_MODE_USER}, {0x1200, 2}}};
    std::array<stackpack_location, 3> at{};
    constexpr std::size_t kRow = sizeof(stackpack_location);
    REQUIRE(stackpack_locate(symbols, frames.data(), frames.size(), 7, 5, at.data(), kRow) ==
            STACKPACK_OK);
    CHECK(text_of(at[0].function) == "f");
    CHECK(text_of(at[0].linkage) == "_f");
    CHECK(text_of(at[0].file) == "f.c");
    CHECK(text_of(at[1].function) == "f");  // it returns to what is after the last byte
    CHECK(at[1].function_offset == 0x10);
    CHECK(at[2].function.data == nullptr);
    CHECK(text_of(at[2].module) == "/lib/a.so");
    CHECK(at[2].offset == 0x200);
    std::size_t count = 0;
    stackpack_location chain{};
    REQUIRE(stackpack_expand(symbols, at.data(), &chain, 1, kRow, &count) == STACKPACK_OK);
    CHECK(count == 1);
    CHECK(text_of(chain.function) == "f");
    const std::array<stackpack_query, 3> queries{
        {{frames[1], 7, 0, 5}, {frames[1], 7, 1, 5}, {frames[0], 8, 0, 5}}};
    REQUIRE(stackpack_locate_all(symbols, queries.data(), queries.size(), at.data(), kRow) ==
            STACKPACK_OK);
    CHECK(at[0].function.data == nullptr);
    CHECK(text_of(at[0].module) == "/lib/a.so");
    CHECK(text_of(at[1].function) == "f");
    CHECK(at[1].has_address == 1);
    CHECK(at[2].module.data == nullptr);
    stackpack_epoch epoch{7, 7};
    CHECK(stackpack_get_epoch(symbols, 7, 5, &epoch) == STACKPACK_OK);
    CHECK(epoch.valid_until == UINT64_MAX);
    const stackpack_query odd{{1, 99}, 7, 0, 5};
    CHECK(stackpack_locate_all(symbols, &odd, 1, at.data(), kRow) == STACKPACK_USAGE);
    CHECK(stackpack_locate_all(symbols, nullptr, 1, at.data(), kRow) == STACKPACK_USAGE);
    CHECK(stackpack_get_epoch(symbols, 7, 5, nullptr) == STACKPACK_USAGE);
    CHECK(stackpack_locate(symbols, nullptr, 1, 7, 5, at.data(), kRow) == STACKPACK_USAGE);
    CHECK(stackpack_load_symbols(nullptr, &symbols) == STACKPACK_USAGE);
    stackpack_free_symbols(symbols);
    stackpack_free_symbols(nullptr);
  }
}

}  // namespace
}  // namespace stackpack::test
