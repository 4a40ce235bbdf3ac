// Package queues says what Kueue and the API server have to know for teams to
// share a cluster's GPUs: the queues with their quotas, and for each team a
// namespace in which nothing gets around its queue.
//
// The usual path: fill a [Cluster], ask [Check] for every problem at once, then
// [Objects] for what the API server is given, and [Values] for Kueue's chart.
// Both are pure: the same cluster always gives the same bytes.
//
// A quota counts GPUs. Kueue admits a job only when its queue covers every
// resource that the job asks for, so CPU, memory and the like are taken out of
// its view ([Values] excludes them), and each queue covers pods without a limit:
// that is what gives a job without GPUs hosts to run on. Whether a host has the
// CPU and memory is still decided, by Kueue when it knows the topology, and by
// the scheduler.
//
// What is not here: a limit of pods, CPU and memory of a team.
package queues
