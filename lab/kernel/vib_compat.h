/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernels that this module is built for have in different ways: all of it is here. */
#ifndef VIB_COMPAT_H
#define VIB_COMPAT_H

#include <linux/version.h>
#include <linux/workqueue.h>

/* What is not WQ_UNBOUND is of this kind where it cannot be said; 7.3 warns of a workqueue that does not say it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define WQ_PERCPU 0
#endif

#endif
