// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark's headers, 4.0 to 4.6, and what differs between them.
//
// Wireshark leaves a function by longjmp when a packet ends early, an item is one too many, or a dissector is wrong. So
// in files that include this header nothing that has a destructor lives across a call of Wireshark;
// tests/wireshark_test.py looks for that.
#pragma once

#include <wireshark.h>
#include <ws_version.h>
// Not included by epan/packet.h from 4.2 on.
#include <wiretap/wtap.h>

#include <epan/epan.h>
#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>

extern "C" {
// Has no such brackets of its own.
#include <epan/show_exception.h>
}

#include <cstdint>
#include <type_traits>

namespace ipoib::dissector {

namespace detail {
template <class Function>
struct Signature;
template <class Result, class... Argument>
struct Signature<Result (*)(Argument...)> {
    using result = Result;
};
template <class Function>
struct FifthOf;
template <class R, class A, class B, class C, class D, class E>
struct FifthOf<R(A, B, C, D, E)> {
    using type = E;
};
}  // namespace detail

/// gboolean in 4.0, bool later.
using HeuristicResult = detail::Signature<heur_dissector_t>::result;
using BoolPreference = std::remove_pointer_t<detail::FifthOf<decltype(prefs_register_bool_preference)>::type>;

}  // namespace ipoib::dissector
