// A device that keeps the layers honest: its buffers cannot be addressed by the host, nothing is done before sync or
// download, and every range of rows is checked. It hands the work to another device then.
#pragma once
#include <memory>

#include "device/device.hpp"

namespace clef::test {

// `inner` outlives the result.
std::unique_ptr<device::Device> make_checking_device(device::Device& inner);

}  // namespace clef::test
