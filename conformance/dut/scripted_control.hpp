// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter made of a script, for tests: what it answers to each request.
#pragma once

#include "conformance/dut/control.hpp"

#include <deque>
#include <map>

namespace ipoib::conformance {

/// Answers by the request's name. "%" in an answer stands for the request's id. A request that is not in the script is
/// unsupported, the last answer of one that is in it is repeated.
class ScriptedControl : public DutControl {
public:
    std::map<std::string, std::deque<std::string>> script;
    std::vector<std::string> requests;
    std::vector<fabric::Duration> patiences;
    std::string error;  ///< not empty: the channel has failed

    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override {
        requests.push_back(request);
        patiences.push_back(patience);
        if (!error.empty()) return {.line = {}, .error = error};
        const auto entry = script.find(member(request, "\"do\":\""));
        if (entry == script.end())
            return {with_id(R"({"id":%,"error":"unsupported","message":"not known"})", request), {}};
        const auto answer = entry->second.front();
        if (entry->second.size() > 1) entry->second.pop_front();
        return {with_id(answer, request), {}};
    }

private:
    static std::string member(const std::string& request, const std::string& begin) {
        const auto first = request.find(begin) + begin.size();
        return request.substr(first, request.find_first_of("\",}", first) - first);
    }
    static std::string with_id(std::string answer, const std::string& request) {
        for (auto at = answer.find('%'); at != std::string::npos; at = answer.find('%'))
            answer.replace(at, 1, member(request, "\"id\":"));
        return answer;
    }
};

}  // namespace ipoib::conformance
