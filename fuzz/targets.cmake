# Names of all fuzz targets: for each NAME a fuzz/NAME_target.cc with
# stackpack::fuzz::NAME(std::span<const std::byte>) and seeds in fuzz/corpus/NAME.
set(STACKPACK_FUZZ_TARGETS
  etl_file
  export_all
  import_folded
  import_pprof
  lznt1
  perf_compressed
  perf_file
  perf_pipe
  xpress_huffman
  xpress_plain)
# Sources that targets share, relative to fuzz/; the tests have them already.
set(STACKPACK_FUZZ_SUPPORT
  ../tests/support/naive_decoders.cc)
