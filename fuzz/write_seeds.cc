// Writes the seeds of the targets about .spk files, about symbols and about .nettrace: write_seeds
// FOLDER
//
// Their corpora under fuzz/corpus were made by it. Run it again when the format changes.
#define DOCTEST_CONFIG_DISABLE
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "spk/read/edge_table.h"
#include "spk/write/edge_counter.h"
#include "spk/write/page_encoder.h"
#include "spk/write/sample_block_encoder.h"
#include "support/nettrace_maker.h"
#include "support/pdb_maker.h"
#include "support/random_stacks.h"
#include "support/ready_to_run_maker.h"
#include "support/spk_reading.h"
#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

using Bytes = std::vector<std::byte>;

void write_seed(const std::filesystem::path& folder, const std::string& name, const Bytes& bytes) {
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / name, std::ios::binary);
  for (const std::byte byte : bytes) {
    file.put(static_cast<char>(std::to_integer<unsigned char>(byte)));
  }
}

SpkContent content_with_tables(std::uint64_t seed, std::size_t stacks, std::size_t samples) {
  SpkContent content = random_content(seed, stacks, samples);
  content.tables.processes = {{7, 1, 5, kUnknownTime, true, "name", "command line"},
                              {15, 7, 9, 1'000, false, "child", ""}};
  content.tables.threads = {{7, 7, 5, kUnknownTime, "name"}, {15, 105, 9, 1'000, "worker"}};
  Module module;
  module.pid = 15;
  module.base = 0x7F0000001000;
  module.size = 0x100000;
  module.path = "/usr/lib/libexample.so";
  content.tables.modules = {module};
  content.tables.metadata = {{"key", "value"}};
  content.losses = {{"lost_something", LossKind::kDamage, 3, 99}};
  return content;
}

void write_files(const std::filesystem::path& folder) {
  spk::WriterOptions counts;
  counts.samples = false;
  write_seed(folder, "tables", spk_bytes(content_with_tables(3, 12, 25)));
  write_seed(folder, "counts", spk_bytes(content_with_tables(4, 20, 60), counts));
  write_seed(folder, "two_pages", spk_bytes(content_with_tables(5, 700, 300)));
  write_seed(folder, "empty", spk_bytes({}));
  SpkContent branches = content_with_tables(6, 12, 25);
  branches.add_branches = [](spk::BranchWriter& out) {
    const Status added =
        out.add(BranchEdge{0, 0, 0x1234, 0, 0x1200, BranchType::kConditional, false, 9, 2, 40, 1});
    return added ? out.add(BranchRange{0, 0, 0x1200, 0x1234, 8, 1, 0}) : added;
  };
  write_seed(folder, "branches", spk_bytes(branches));
}

// The input of spk_page for the first page of these callstacks.
Bytes page_seed(const StackSet& stacks) {
  const dag::FrozenDag dag = frozen_dag_of(stacks);
  const auto frames = static_cast<std::uint32_t>(dag.dictionary.size());
  spk::EdgeCounter counter(".", 0);
  std::vector<std::uint32_t> path;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    const bool first = dag.depth[i] == path.size() + 1;
    path.resize(dag.depth[i] - std::size_t{1});
    if (!counter.add(path.empty() ? frames : path.back(), dag.frame[i], first)) {
      return {};
    }
    path.push_back(dag.frame[i]);
  }
  Bytes edge_block;  // so few edges are one
  spk::EdgeRanks ranks(frames, {});
  spk::EdgeBlockEncoder edge_encoder(frames + 1, [&](spk::BlockContent& block) {
    const auto bytes = block.bytes().bytes();
    edge_block.assign(bytes.begin(), bytes.end());
    return ranks.add_block(bytes::ByteCursor(bytes, 0));
  });
  const Status added =
      counter.for_each([&](const spk::CountedEdge& edge) { return edge_encoder.add(edge); });
  if (!added || !edge_encoder.finish() || !ranks.finish()) {
    return {};
  }
  spk::PageEncoder encoder(ranks);
  std::size_t nodes = 0;
  for (; nodes < dag.node_count() && !encoder.full(); ++nodes) {
    if (!encoder.add({dag.frame[nodes], dag.depth[nodes], dag.ends(nodes)})) {
      return {};
    }
  }
  spk::BlockContent content;
  const std::uint32_t ended = encoder.encode(content);
  TestBytes seed;
  seed.u8(static_cast<std::uint8_t>(frames - 1))
      .u16(static_cast<std::uint16_t>(edge_block.size()))
      .append(edge_block)
      .u16(static_cast<std::uint16_t>(nodes - 1))
      .u16(static_cast<std::uint16_t>(ended))
      .u16(0)
      .u16(0)
      .append(content.bytes().bytes());
  return seed.bytes;
}

Bytes sample_seed(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  const std::vector<StoredSample> samples = random_samples(random, 3, 1'000, count);
  spk::SampleBlockEncoder encoder;
  spk::BlockContent head;
  spk::BlockContent body;
  encoder.encode(samples, head, body);
  TestBytes bytes;
  bytes.u16(static_cast<std::uint16_t>(count))
      .u16(static_cast<std::uint16_t>(head.size()))
      .append(head.bytes().bytes())
      .append(body.bytes().bytes());
  return bytes.bytes;
}

Bytes program_seed(std::uint64_t seed, unsigned options, std::size_t size) {
  Random random(seed);
  TestBytes bytes;
  bytes.u8(static_cast<std::uint8_t>(options)).u8(static_cast<std::uint8_t>(random.next()));
  while (bytes.bytes.size() < size) {
    bytes.u8(static_cast<std::uint8_t>(random.next()));
  }
  return bytes.bytes;
}

void write_pdbs(const std::filesystem::path& folder) {
  PdbRecipe recipe = pdb_with_inlines();
  write_seed(folder, "inlines", pdb_bytes(recipe));
  recipe.moves = {{0x2000, 0x1030}, {0x2040, 0x1010}, {0x2060, 0}};
  write_seed(folder, "moved", pdb_bytes(recipe));
  recipe = PdbRecipe();
  recipe.contributions = {{1, 0, 0x100}};
  recipe.objects.resize(1);
  put_separated_code(recipe.objects[0].symbols, 0x80, 0x10, 0x20);
  put_procedure(recipe.objects[0].symbols, 0x20, 8, "parse");
  put_thunk(recipe.objects[0].symbols, 0x60, 8, "thunk");
  put_public(recipe.public_symbols, 0x40, "?third@@YAXXZ");
  write_seed(folder, "symbols", pdb_bytes(recipe));
}

void write_images(const std::filesystem::path& folder) {
  write_seed(folder, "ready_to_run", ReadyToRunMaker().file());
  write_seed(folder, "ready_to_run_arm64", ReadyToRunMaker({0xAA64}).file());
}

void write_traces(const std::filesystem::path& folder) {
  for (const std::uint32_t version : {3U, 4U, 6U}) {
    write_seed(folder, "version" + std::to_string(version), small_trace(version, 1));
  }
}

void write_all(const std::filesystem::path& folder) {
  write_files(folder / "spk_walk");
  write_files(folder / "export_spk");
  write_pdbs(folder / "symbol_pdb");
  write_images(folder / "symbol_pe");
  write_traces(folder / "nettrace_file");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    const std::string name = std::to_string(seed);
    write_seed(folder / "spk_page", name,
               page_seed(random_stacks(random, seed * 20, 6 * seed, 20 * seed)));
    write_seed(folder / "spk_samples", name, sample_seed(seed, seed * seed * 5));
    write_seed(folder / "builder_round_trip", name,
               program_seed(seed, static_cast<unsigned>(seed * 5), 200 * seed));
  }
}

}  // namespace
}  // namespace stackpack::test

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: write_seeds FOLDER\n";
    return 1;
  }
  stackpack::test::write_all(arguments[1]);
  return 0;
}
