#include "symbolize/windows/symbol_store.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/pdb_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::symbolize {

namespace {

void make_file(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("symbol store: folders of PDBs and images are named as Microsoft's tools do") {
  CHECK(pdb_store_id({test::pdb_guid(), 1}) == "030201000504070608090A0B0C0D0E0F1");
  CHECK(pdb_store_id({test::pdb_guid(), 0x1AB}) == "030201000504070608090A0B0C0D0E0F1AB");
  CHECK(pdb_store_id({test::pdb_guid(), 0}) == "030201000504070608090A0B0C0D0E0F0");
  CHECK(pe_store_id(0x5F00ABCD, 0xB3000) == "5F00ABCDb3000");
  CHECK(pe_store_id(0xABC, 0x1000) == "00000ABC1000");
}

TEST_CASE("symbol store: the name of a file is the last part of its path, and no way elsewhere") {
  CHECK(stored_name("C:\\build\\ntdll.pdb") == "ntdll.pdb");
  CHECK(stored_name("/build/ntdll.pdb") == "ntdll.pdb");
  CHECK(stored_name("ntdll.pdb") == "ntdll.pdb");
  CHECK(stored_name("C:\\build\\").empty());
  CHECK(stored_name("..").empty());
  CHECK(stored_name("a/..").empty());
  CHECK(stored_name(std::string_view("a\0b", 3)).empty());
}

TEST_CASE("symbol store: both layouts and plain files, whatever their case") {
  const test::ScratchDirectory scratch;
  const std::string folder = scratch.file("store");
  make_file(folder + "/ntdll.pdb/ABC1/ntdll.pdb");
  make_file(folder + "/nt/ntdll.pdb/ABC1/ntdll.pdb");
  make_file(folder + "/ntdll.pdb/OTHER/ntdll.pdb");
  make_file(folder + "/NTDLL.PDB");
  make_file(folder + "/User32.pdb/abc2/USER32.PDB");
  SymbolStore store(folder);
  const StoredFiles found = store.find("ntdll.pdb", "ABC1");
  REQUIRE(found.paths.size() == 2);
  CHECK(found.paths[0] == folder + "/ntdll.pdb/ABC1/ntdll.pdb");
  CHECK(found.paths[1] == folder + "/nt/ntdll.pdb/ABC1/ntdll.pdb");
  CHECK(found.unread.empty());
  const StoredFiles other_case = store.find("user32.pdb", "ABC2");
  REQUIRE(other_case.paths.size() == 1);
  CHECK(other_case.paths[0] == folder + "/User32.pdb/abc2/USER32.PDB");
  CHECK(store.find("none.pdb", "ABC1").paths.empty());
  CHECK(store.find("", "ABC1").paths.empty());
  CHECK(SymbolStore(scratch.file("nowhere")).find("ntdll.pdb", "ABC1").paths.empty());
  SymbolStore plain(folder);
  std::filesystem::remove_all(folder + "/ntdll.pdb");
  std::filesystem::remove_all(folder + "/nt");
  REQUIRE(plain.find("ntdll.pdb", "ABC1").paths.size() == 1);
  CHECK(plain.find("ntdll.pdb", "ABC1").paths[0] == folder + "/NTDLL.PDB");
}

TEST_CASE("symbol store: all files of a name, for images without a known id") {
  const test::ScratchDirectory scratch;
  const std::string folder = scratch.file("store");
  make_file(folder + "/a.dll/1/a.dll");
  make_file(folder + "/a.dll/2/A.DLL");
  make_file(folder + "/a.dll/3/other");
  make_file(folder + "/a./a.dll/4/a.dll");
  SymbolStore store(folder);
  CHECK(store.find_all("a.dll") == std::vector<std::string>{folder + "/a.dll/1/a.dll",
                                                            folder + "/a.dll/2/A.DLL",
                                                            folder + "/a./a.dll/4/a.dll"});
  CHECK(store.find_all("b.dll").empty());
}

TEST_CASE("symbol store: compressed files and pointers are told, not read") {
  const test::ScratchDirectory scratch;
  const std::string folder = scratch.file("store");
  make_file(folder + "/a.pdb/1/a.pd_");
  make_file(folder + "/b.pdb/2/file.ptr");
  SymbolStore store(folder);
  CHECK(store.find("a.pdb", "1").paths.empty());
  CHECK(store.find("a.pdb", "1").unread == folder + "/a.pdb/1/a.pd_");
  CHECK(store.find("b.pdb", "2").unread == folder + "/b.pdb/2/file.ptr");
}

}  // namespace stackpack::symbolize
