/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernels that this module is built for have in different ways: all of it is here. */
#ifndef VIB_COMPAT_H
#define VIB_COMPAT_H

#include <linux/version.h>
#include <linux/workqueue.h>

/* Until 6.17 every workqueue that is not WQ_UNBOUND is of this kind; 7.3 warns of one that does not say which it is. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define WQ_PERCPU 0
#endif

#endif
