// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this build runs under AddressSanitizer, with which everything takes several times as long, and more memory.
#pragma once

#ifndef __has_feature
#define __has_feature(name) 0
#endif

namespace ipoib {

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace ipoib
