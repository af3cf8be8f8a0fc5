// The encoders that there are: each file's family. Only the registry (gpu/encoders.cpp) names them.
#pragma once

namespace fedpp::gpu {

class EncoderFamily;

const EncoderFamily& rbf_family();          // gpu/time_encoders.cpp
const EncoderFamily& deep_kernel_family();  // gpu/time_encoders.cpp
const EncoderFamily& lstm_family();         // gpu/lstm.cpp
const EncoderFamily& attention_family();    // gpu/attention.cpp
const EncoderFamily& decay_family();        // gpu/decay.cpp

}  // namespace fedpp::gpu
