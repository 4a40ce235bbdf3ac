package hosts

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/ledger"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// OwnerEntry tells a step whose the hosts are: this state's, whose name they
// bear. Its removal leaves those alone that bear another one by then.
func (h *Hosts) OwnerEntry() map[string]pulumi.StringInput {
	return map[string]pulumi.StringInput{hoststep.EnvOwner: h.owner}
}

// Later tells a step whose its host is, and why the preparation of the host
// failed, if it did.
func (h *Hosts) Later(host string) map[string]pulumi.StringInput {
	var outcomes []any
	for _, outcome := range h.Outcomes(host) {
		outcomes = append(outcomes, outcome)
	}
	entries := h.OwnerEntry()
	entries[hoststep.EnvUnprepared] = pulumi.All(outcomes...).ApplyT(func(results []any) string {
		var reasons []string
		for _, result := range results {
			if outcome, ok := step.ReadOutcome(result.(string)); ok && outcome.Status == step.StatusQuarantined {
				reasons = append(reasons, outcome.Reason)
			}
		}
		return strings.Join(reasons, "\n")
	}).(pulumi.StringOutput)
	return entries
}

// Ledger says that a scheduler owns hosts: a list of host, owner and GPUs by
// type.
func Ledger(all []config.Host, owner config.Scheduler) pulumi.ArrayOutput {
	var entries []ledger.Entry
	for _, host := range all {
		gpus := map[string]int{}
		for _, gpu := range host.Profile.GPUs {
			gpus[gpu.Type] += gpu.Count
		}
		entries = append(entries, ledger.Entry{Host: host.Name, Owner: string(owner), GPUs: gpus})
	}
	var out pulumi.Array
	for _, entry := range ledger.New(entries) {
		out = append(out, pulumi.Map{
			"host": pulumi.String(entry.Host), "owner": pulumi.String(entry.Owner), "gpus": pulumi.ToIntMap(entry.GPUs),
		})
	}
	return out.ToArrayOutput()
}
