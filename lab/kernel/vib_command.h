/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of debugfs "control". Pure. */
#ifndef VIB_COMMAND_H
#define VIB_COMMAND_H

#include "vib_types.h"

#define VIB_COMMAND_NAME 16

enum vib_command_kind {
	VIB_COMMAND_LINK_DOWN,		/* link NAME down */
	VIB_COMMAND_LINK_UP,		/* link NAME up */
	VIB_COMMAND_FAULT_OFF,		/* fault NAME off */
	VIB_COMMAND_DROP,		/* fault NAME in|out drop PERMILLE */
	VIB_COMMAND_DUPLICATE,
	VIB_COMMAND_CORRUPT,
	VIB_COMMAND_DELAY,		/* fault NAME in|out delay MILLISECONDS */
};

struct vib_command {
	enum vib_command_kind kind;
	char name[VIB_COMMAND_NAME];
	bool is_inward;			/* towards the named node */
	u32 value;
};

/* One line without its line feed; words are separated by blanks. False: not a command, and nothing is to be done. */
bool vib_command_parse(struct vib_command *command, const char *line, size_t length);

#endif
