# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual page of ipoib-lab and its completion in bash, made of what its parser knows."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

_FILES = """\
What the lab fetches and builds is in the folder ipoib-lab of $XDG_CACHE_HOME, or of ~/.cache: Debian's packages, the
kernel module, images of the guest. It may be removed at any time.
/usr/share/ipoib-conformance/lab/linux.baseline.toml has the known deviations of Linux's ib_ipoib, for --expect."""
_EXIT_CODES = """\
That of ipoib-conform run; 3 if no guest boots or something is missing, 2 for wrong usage. Those of exec and shell are
theirs alone."""


def _roff(text: str) -> str:
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\\\").replace("-", "\\-"), flags=re.MULTILINE)


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    action = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {choice.dest: (choice.help or "", action.choices[choice.dest]) for choice in action._choices_actions}


def _arguments(actions: Iterable[argparse.Action]) -> list[str]:
    lines = []
    for action in actions:
        if isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)):
            continue
        value = action.metavar or "|".join(map(str, action.choices or ()))
        name = f"{', '.join(action.option_strings)} {'' if action.nargs == 0 else value}".strip()
        lines += [".TP", f"\\fB{_roff(name)}\\fR", _roff((action.help or "").replace("%%", "%"))]
    return lines


def _groups(parser: argparse.ArgumentParser) -> dict[str, list[argparse.Action]]:
    """What commands have in common, by the headings of --help."""
    return {group.title or "": group._group_actions
            for group in parser._action_groups if group not in (parser._positionals, parser._optionals)}


def page(parser: argparse.ArgumentParser, version: str) -> str:
    name = _roff("ipoib-lab")
    lines = [f'.TH IPOIB\\-LAB 1 "" "{name} {_roff(version)}" "User commands"', ".SH NAME",
             f"{name} \\- judge the Linux IPoIB driver on a virtual InfiniBand", ".SH SYNOPSIS",
             f"\\fB{name}\\fR COMMAND [OPTION]...", ".SH DESCRIPTION", _roff(parser.description or ""),
             *_arguments(parser._actions), ".SH COMMANDS"]
    common: dict[str, list[argparse.Action]] = {}
    for command, (text, one) in _commands(parser).items():
        groups = _groups(one)
        common = {**groups, **common}
        shared = {id(action) for actions in groups.values() for action in actions}
        lines += [f".SS {_roff(command)}", _roff(text[0].upper() + text[1:] + "."),
                  *_arguments(action for action in one._actions if id(action) not in shared)]
        if groups:
            lines += [".PP", "Options below: " + _roff(", ".join(groups)) + "."]
        if one.epilog:
            lines += [".PP", _roff(one.epilog)]
    lines.append(".SH OPTIONS")
    for title, actions in common.items():
        lines += [f".SS {_roff(title[0].upper() + title[1:])}", *_arguments(actions)]
    lines += [".SH FILES", _roff(_FILES), ".SH EXIT STATUS", _roff(_EXIT_CODES), ".SH SEE ALSO",
              "\\fBipoib\\-conform\\fR(1), \\fBipoib\\-gen\\fR(1), \\fBqemu\\-system\\-x86_64\\fR(1)"]
    return "\n".join(lines) + "\n"


def _long_options(parser: argparse.ArgumentParser) -> str:
    return " ".join(o for action in parser._actions for o in action.option_strings if o.startswith("--"))


def completion(parser: argparse.ArgumentParser) -> str:
    commands = _commands(parser)
    cases = "".join(f"    {name}) options='{_long_options(one)}' ;;\n" for name, (_, one) in commands.items())
    return f"""\
# bash completion for ipoib-lab; source it, or put it where bash-completion looks
_ipoib_lab() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '{' '.join(commands)} {_long_options(parser)}' -- "$word")
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}  esac
  case "$word" in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}}
complete -o filenames -F _ipoib_lab ipoib-lab
"""
