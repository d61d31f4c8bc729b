/* SPDX-License-Identifier: GPL-2.0-only */
/* debugfs vib/: links, drops, control. */
#ifndef VIB_CONTROL_H
#define VIB_CONTROL_H

void vib_control_init(void);
void vib_control_exit(void);

#endif
