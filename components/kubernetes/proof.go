package kubernetes

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/gate"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kubestep"
)

// smokeHosts is how many hosts the smoke pods run on.
const smokeHosts = 2

// declareSmoke runs a pod with all GPUs of a host on two hosts at once.
func (b *builder) declareSmoke() error {
	name := b.name + "-smoke"
	workers := b.model.Workers[:min(smokeHosts, len(b.model.Workers))]
	spec := kubestep.SmokeSpec{ControlPlanes: b.controlPlanes(), CheckImage: b.model.CheckImage, Hosts: map[string]int{}}
	for _, worker := range workers {
		spec.Hosts[worker.Name] = worker.Devices
		if n := seen(worker); n > 0 {
			if spec.Seen == nil {
				spec.Seen = map[string]int{}
			}
			spec.Seen[worker.Name] = n
		}
	}
	smoke, err := stepresource.New(b.ctx, name, stepresource.Args{
		Step: kubestep.Smoke, Spec: spec, Targets: b.reach(b.controlPlanes()...), Heal: b.heal.Count(name),
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn(slices.Clone(b.last)))
	if err != nil {
		return err
	}
	b.Smoke = smoke.Stdout
	b.outcomes = append(b.outcomes, smoke.Stdout)
	b.last = append(b.last, smoke)
	return nil
}

// declareGate fails the run at its end when a host is in quarantine.
func (b *builder) declareGate() error {
	judged, err := gate.New(b.ctx, b.name+"-gate", &gate.Args{Environment: b.env.Name, Outcomes: b.outcomes},
		pulumi.Parent(b.Cluster), pulumi.DependsOn(slices.Clone(b.last)))
	b.gate = judged
	return err
}

// Built are the resources that make and judge the cluster, the gate last: all that
// is waited for before its [Cluster.Guard]. What comes after the cluster and before
// its guard waits for them, and not for the component, of which the guard is a part.
func (c *Cluster) Built() []pulumi.Resource { return append(slices.Clone(c.last), c.gate) }

// Guard declares what refuses a destruction while pods of people run. It is
// deleted before everything else of the cluster, and before what else lies in the
// cluster by this program: inside. So it is called last, once.
func (c *Cluster) Guard(ctx *pulumi.Context, inside ...pulumi.Resource) error {
	_, err := stepresource.New(ctx, c.name+"-guard", stepresource.Args{
		Step: kubestep.Guard, Spec: kubestep.GuardSpec{ControlPlanes: c.controlPlanes(), Lab: c.env.Lab != nil},
		Targets: c.reach(c.controlPlanes()...),
	}, pulumi.Parent(c), pulumi.DependsOn(slices.Concat(c.last, inside)))
	return err
}
