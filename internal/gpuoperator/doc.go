// Package gpuoperator says what NVIDIA's operators have to know for the GPUs and
// the adapters of hosts to reach pods: the values of the GPU Operator's chart and,
// where pods use InfiniBand or RoCE, those of the Network Operator's and its
// policy.
//
// The usual path: fill a [Cluster], ask [Check] for every problem at once, then
// [Values], [NetworkValues] and [Objects]. All are pure: the same cluster always
// gives the same bytes.
package gpuoperator
