// SPDX-License-Identifier: GPL-2.0-or-later
// How AddressSanitizer works under a fuzzer, but for what ASAN_OPTIONS says: what is freed stays poisoned for a while,
// and where it was allocated is not told for each, which takes as long as the work itself.

extern "C" const char* __asan_default_options();
extern "C" __attribute__((used, visibility("default"))) const char* __asan_default_options() {
    return "malloc_context_size=2:quarantine_size_mb=16:allocator_release_to_os_interval_ms=-1:max_allocation_size_mb="
           "512";
}
