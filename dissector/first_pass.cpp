// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/first_pass.hpp"

#include "conformance/assumptions/apply.hpp"

#include <exception>
#include <memory>

namespace ipoib::dissector {
namespace {

std::unique_ptr<CaptureState> the_state;
FrameNumber trouble_frame = 0;
std::string trouble_text;
bool has_failed = false;

void set_trouble(FrameNumber frame, std::string text) {
    trouble_frame = frame;
    trouble_text = std::move(text);
}

using Statements = std::vector<assumptions::Statement>;

std::shared_ptr<const Statements> stated(const FirstPassSettings& settings, FrameNumber frame) {
    auto statements = std::make_shared<Statements>();
    try {
        if (*settings.assume) statements->push_back(assumptions::parse_assumption(settings.assume));
        if (*settings.sa_file) statements->push_back(assumptions::read_sa_file(settings.sa_file));
    } catch (const std::exception& problem) {
        set_trouble(frame, std::string("Assumptions are not used: ") + problem.what());
        statements->clear();
    }
    return statements;
}

/// Names of a file, then those of the SA's list.
void add_names(HostNames& hosts, const FirstPassSettings& settings, const Statements& statements, FrameNumber frame) {
    try {
        if (*settings.names_file) hosts.read(settings.names_file);
    } catch (const std::exception& problem) {
        set_trouble(frame, std::string("Names are not used: ") + problem.what());
    }
    for (const auto& statement : statements)
        for (const auto& port : statement.ports) hosts.add(port.gid.interface_id(), port.node_description);
}

std::unique_ptr<CaptureState> new_state(const FirstPassSettings& settings, FrameNumber frame) {
    inspection::Options options{.is_one_subnet = settings.is_one_subnet};
    const auto statements = stated(settings, frame);
    if (!statements->empty())
        options.assume = [statements](state::Subnet& subnet) {
            for (const auto& statement : *statements) assumptions::apply(statement, subnet);
        };
    auto state = std::make_unique<CaptureState>(std::move(options), settings.has_notes);
    add_names(state->hosts(), settings, *statements, frame);
    return state;
}

}  // namespace

const wire::Packet* take_in_first_pass(const inspection::FrameView& frame, const FirstPassSettings& settings) noexcept {
    if (has_failed) return nullptr;
    const auto number = static_cast<FrameNumber>(frame.sight.frame);
    try {
        if (!the_state) the_state = new_state(settings, number);
        const bool was_whole = !the_state->is_incomplete();
        const bool is_taken = the_state->take(frame);
        if (was_whole && the_state->is_incomplete())
            set_trouble(number,
                        "The capture shows more than is kept: from here on, some of what it breaks is not shown");
        return is_taken ? &the_state->packet() : nullptr;
    } catch (const std::exception&) {
        // What was found so far stays; later frames are decoded alone.
        has_failed = true;
        trouble_frame = number;
        // Short enough to need no memory, which is what may lack.
        trouble_text = "Judging stopped";
        return nullptr;
    }
}

void end_first_pass() noexcept {
    if (has_failed || !the_state) return;
    try {
        the_state->finish();
    } catch (const std::exception&) {
        has_failed = true;
        trouble_frame = the_state->last();
        trouble_text = "Judging stopped";
    }
}

const CaptureState* capture_state() noexcept { return the_state.get(); }

const char* trouble_at(FrameNumber frame) noexcept { return frame == trouble_frame ? trouble_text.c_str() : ""; }

const char* counted(const std::string& text) noexcept {
    try {
        return the_state ? the_state->counted(text) : "";
    } catch (const std::exception&) {
        return "others";
    }
}

void forget_capture_state() noexcept {
    the_state.reset();
    trouble_frame = 0;
    trouble_text.clear();
    has_failed = false;
}

}  // namespace ipoib::dissector
