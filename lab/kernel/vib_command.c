// SPDX-License-Identifier: GPL-2.0-only
/* The parser of debugfs "control". Pure. */
#include "vib_command.h"
#include "vib_fault.h"

struct word {
	const char *at;
	size_t length;
};

#define MAX_WORDS 5

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* More words than fit count as one more than fits. */
static unsigned int split(struct word *words, const char *line, size_t length)
{
	unsigned int count = 0;
	size_t i = 0;

	for (;;) {
		while (i < length && is_blank(line[i]))
			i++;
		if (i == length)
			return count;
		if (count == MAX_WORDS)
			return MAX_WORDS + 1;
		words[count].at = line + i;
		while (i < length && !is_blank(line[i]))
			i++;
		words[count].length = (size_t)(line + i - words[count].at);
		count++;
	}
}

static bool is(const struct word *word, const char *text)
{
	return strlen(text) == word->length && memcmp(word->at, text, word->length) == 0;
}

static bool take_name(struct vib_command *command, const struct word *word)
{
	if (word->length >= sizeof(command->name) || memchr(word->at, 0, word->length))
		return false;
	memcpy(command->name, word->at, word->length);
	command->name[word->length] = 0;
	return true;
}

static bool take_number(u32 *number, const struct word *word, u32 most)
{
	u32 value = 0;
	size_t i;

	for (i = 0; i < word->length; i++) {
		if (word->at[i] < '0' || word->at[i] > '9')
			return false;
		value = value * 10 + (u32)(word->at[i] - '0');
		if (value > most)
			return false;
	}
	*number = value;
	return true;
}

static bool take_link(struct vib_command *command, const struct word *state)
{
	bool is_up = is(state, "up");

	command->kind = is_up ? VIB_COMMAND_LINK_UP : VIB_COMMAND_LINK_DOWN;
	return is_up || is(state, "down");
}

static bool take_fault(struct vib_command *command, const struct word *direction, const struct word *what,
		       const struct word *number)
{
	u32 most = VIB_PERMILLE;

	command->is_inward = is(direction, "in");
	if (!command->is_inward && !is(direction, "out"))
		return false;
	if (is(what, "drop")) {
		command->kind = VIB_COMMAND_DROP;
	} else if (is(what, "duplicate")) {
		command->kind = VIB_COMMAND_DUPLICATE;
	} else if (is(what, "corrupt")) {
		command->kind = VIB_COMMAND_CORRUPT;
	} else if (is(what, "delay")) {
		command->kind = VIB_COMMAND_DELAY;
		most = VIB_DELAY_MAX;
	} else {
		return false;
	}
	return take_number(&command->value, number, most);
}

bool vib_command_parse(struct vib_command *command, const char *line, size_t length)
{
	struct word words[MAX_WORDS];
	unsigned int count = split(words, line, length);

	memset(command, 0, sizeof(*command));
	if (count < 3 || !take_name(command, &words[1]))
		return false;
	if (count == 3 && is(&words[0], "link"))
		return take_link(command, &words[2]);
	if (!is(&words[0], "fault"))
		return false;
	command->kind = VIB_COMMAND_FAULT_OFF;
	if (count == 3)
		return is(&words[2], "off");
	return count == 5 && take_fault(command, &words[2], &words[3], &words[4]);
}
