// Package volcano says what Volcano has to know for teams to share a cluster's
// GPUs: its scheduler's configuration, a queue for each team and each cohort, and
// the fabric. What a team is beside its queue, package queues says for both.
//
// The usual path: fill a [queues.Cluster], ask [Check] for every problem at once,
// then [Objects] for what the API server is given, and [Values] for Volcano's
// chart. Both are pure: the same cluster always gives the same bytes.
package volcano
