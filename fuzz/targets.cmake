# Names of all fuzz targets: for each NAME a fuzz/NAME_target.cc with
# stackpack::fuzz::NAME(std::span<const std::byte>) and seeds in fuzz/corpus/NAME.
set(STACKPACK_FUZZ_TARGETS
  branch_layouts
  branch_profiles
  builder_round_trip
  etl_file
  event_payloads
  event_values
  export_all
  export_spk
  gate_file
  import_firefox
  import_folded
  import_jfr
  import_otlp
  import_perf_script
  import_pprof
  import_speedscope
  import_stacks
  import_v8
  label_sets
  lznt1
  method_events
  nettrace_file
  perf_compressed
  perf_file
  perf_pipe
  rpc_message
  sample_fields
  spk_page
  spk_samples
  spk_walk
  symbol_demangle
  symbol_elf
  symbol_bundle
  symbol_maps
  symbol_pdb
  symbol_pe
  unwind_elf
  unwind_expression
  unwind_walk
  wait_formats
  wait_intervals
  written_file
  xpress_huffman
  xpress_plain
  zip_archive)
# Sources that targets and mutators share, relative to fuzz/; the tests have them, or their own in their place.
set(STACKPACK_FUZZ_SUPPORT
  unchecked_sinks.cc
  ../tests/support/naive_decoders.cc
  ../tests/support/spk_recipe.cc)
# Mutators that know the format, for the programs alone: fuzz/NAME.cc.
set(STACKPACK_FUZZ_MUTATOR_export_spk spk_mutator)
set(STACKPACK_FUZZ_MUTATOR_spk_walk spk_mutator)
set(STACKPACK_FUZZ_MUTATOR_perf_compressed perf_mutator)
set(STACKPACK_FUZZ_MUTATOR_perf_file perf_mutator)
set(STACKPACK_FUZZ_MUTATOR_perf_pipe perf_mutator)
set(STACKPACK_FUZZ_MUTATOR_etl_file etl_mutator)
