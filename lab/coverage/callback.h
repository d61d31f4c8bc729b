/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before all else in what is built with -fsanitize-coverage=trace-pc: the compiler's calls go to the module vibcov,
 * whether or not the kernel has a KCOV of its own.
 */
#ifndef __ASSEMBLY__
__asm__(".set __sanitizer_cov_trace_pc, vibcov_block");
#endif
