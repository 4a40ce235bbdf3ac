package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kubestep"
)

// nodeVars are the variables of the playbook that prepares any node.
func (b *builder) nodeVars(host string, ports ...int) map[string]any {
	vars := map[string]any{
		"kubernetes_node_endpoint":     b.model.Endpoint,
		"kubernetes_node_binaries_url": b.model.BinariesFolder(),
		"kubernetes_node_files":        placed(b.files.Node),
		"kubernetes_node_host_files":   map[string]any{host: placed(b.files.Own(host))},
		"kubernetes_node_ports":        append([]int{kubeletPort}, ports...),
	}
	if b.model.Endpoint == kubeconf.LocalEndpoint {
		vars["kubernetes_node_balancer"] = true
	}
	if b.env.Lab != nil {
		vars["kubernetes_node_cgroup_v1"] = kubeconf.LabOverrides().CgroupV1
	}
	return vars
}

// planeVars are those of a control plane, which has its kubelet when its API
// server is of that release: no kubelet may be newer.
func (b *builder) planeVars(host string) map[string]any {
	vars := b.nodeVars(host, apiPort, etcdPort, etcdPeerPort)
	vars["kubernetes_node_binaries"] = []string{"kubeadm"}
	return vars
}

const (
	kubeletPort  = 10250
	apiPort      = 6443
	etcdPort     = 2379
	etcdPeerPort = 2380
)

// placed lists files as the roles take them.
func placed(files []kubeconf.File) []map[string]any {
	out := []map[string]any{}
	for _, file := range files {
		out = append(out, map[string]any{"path": file.Path, "content": file.Content, "mode": "0644"})
	}
	return out
}

func (b *builder) ignored() []string {
	if b.env.Lab == nil {
		return []string{}
	}
	return kubeconf.LabOverrides().IgnoredPreflight()
}

// declareControlPlanes makes the control planes one after the other: the first
// begins the cluster, unless another is a member of one, and etcd takes one new
// member at a time. Each asks the others.
func (b *builder) declareControlPlanes() error {
	planes := b.controlPlanes()
	objects := []string{}
	for _, object := range b.files.Objects {
		objects = append(objects, object.Path)
	}
	for i, host := range planes {
		vars := map[string]any{
			"kubernetes_control_plane_cluster":          b.model.Name,
			"kubernetes_control_plane_first":            planes[0],
			"kubernetes_control_plane_version":          b.model.Version,
			"kubernetes_control_plane_binaries_url":     b.model.BinariesFolder(),
			"kubernetes_control_plane_ignore_preflight": b.ignored(),
		}
		if i == 0 {
			vars["kubernetes_control_plane_objects"] = objects
		}
		reached, after := []string{host}, slices.Clone(b.after)
		for _, other := range planes {
			after = append(after, b.hosts.Ready(other)...)
			if other != host {
				reached = append(reached, other)
			}
		}
		name := b.planeName(host)
		for _, earlier := range b.planes {
			after = append(after, earlier)
		}
		plane, err := stepresource.New(b.ctx, name, stepresource.Args{
			Step: kubestep.ControlPlane,
			Spec: kubestep.ControlPlaneSpec{
				Host: host, ControlPlanes: planes, Endpoint: b.model.Endpoint,
				Version: b.model.Version, PodCIDR: b.model.PodCIDR, ServiceCIDR: b.model.ServiceCIDR,
				Node: b.planeVars(host), Vars: vars,
			},
			Targets: b.reach(reached...), Later: b.hosts.Later(host), Heal: b.heal.Count(name),
			Toolkit: kubestep.Toolkit(playbook.KubernetesNode, playbook.KubernetesControlPlane),
		}, pulumi.Parent(b.Cluster), pulumi.DependsOn(after))
		if err != nil {
			return err
		}
		b.planes = append(b.planes, plane)
		b.outcomes = append(b.outcomes, plane.Stdout)
		b.outcomes = append(b.outcomes, b.hosts.Outcomes(host)...)
		b.last = append(b.last, plane)
	}
	return nil
}

// declareKubeconfig reads the administrator's kubeconfig. It leads to a control
// plane that works: when one fails or comes back, it is read again.
func (b *builder) declareKubeconfig() error {
	var results []any
	var after []pulumi.Resource
	for _, plane := range b.planes {
		results, after = append(results, plane.Stdout), append(after, plane)
	}
	began := pulumi.All(results...).ApplyT(func(texts []any) string { return fmt.Sprint(texts...) }).(pulumi.StringOutput)
	kubeconfig, err := stepresource.New(b.ctx, b.name+"-kubeconfig", stepresource.Args{
		Step:    kubestep.Kubeconfig,
		Spec:    kubestep.KubeconfigSpec{ControlPlanes: b.controlPlanes(), Endpoint: b.model.Endpoint, Direct: b.direct()},
		Targets: b.reach(b.controlPlanes()...), SecretResult: true,
		Later: map[string]pulumi.StringInput{kubestep.EnvBegan: began},
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn(after))
	if err != nil {
		return err
	}
	b.Kubeconfig = pulumi.ToSecret(kubeconfig.Stdout.ApplyT(kubestep.ReadKubeconfig)).(pulumi.StringOutput)
	if known, ok := b.knownKubeconfig(); ok && b.ctx.DryRun() {
		b.Kubeconfig = pulumi.ToSecret(pulumi.String(known)).(pulumi.StringOutput)
	}
	return b.declareProvider()
}

// knownKubeconfig is what the last update read. A preview goes by it: when a
// control plane is updated, it cannot know what will be read, and would show
// everything in the cluster as made anew.
func (b *builder) knownKubeconfig() (string, bool) {
	result, ok := b.heal.Result(b.name + "-kubeconfig")
	if !ok {
		return "", false
	}
	known, err := kubestep.ReadKubeconfig(result)
	return known, err == nil && known != ""
}

// direct tells whether the endpoint means something to the cluster's hosts alone:
// a lab has its own resolver, the name of a control plane is the inventory's, and
// a balancer of every host is its own.
func (b *builder) direct() bool {
	host, _, _ := strings.Cut(b.model.Endpoint, ":")
	return b.env.Lab != nil || b.model.Endpoint == kubeconf.LocalEndpoint || slices.Contains(b.controlPlanes(), host)
}

// seen is how many GPUs a pod with all devices of a node sees, where these are
// slices or shares of them.
func seen(worker config.KubernetesNode) int {
	if worker.Devices == 0 || worker.Devices == worker.GPUs {
		return 0
	}
	return worker.GPUs
}

// declareInside makes what has to be in the cluster before workers join.
func (b *builder) declareInside() error {
	if b.declareFirst == nil {
		return nil
	}
	inside, err := b.declareFirst(b.Cluster)
	b.inside = inside
	return err
}

// declareMembers makes one membership a worker.
func (b *builder) declareMembers() error {
	planes := b.controlPlanes()
	upgrades := &waves{size: b.model.UpgradeAtOnce}
	for _, worker := range b.model.Workers {
		name := b.memberName(worker.Name)
		spec := kubestep.MemberSpec{
			Host: worker.Name, Owner: string(config.SchedulerKubernetes), ControlPlanes: planes, Endpoint: b.model.Endpoint,
			Version: b.model.Version,
			GPUs:    worker.Devices, Seen: seen(worker), GPULimit: b.model.GPUTimeout, Labels: worker.NodeLabels(), CheckImage: b.model.CheckImage, EvictionDeadline: b.model.EvictionDeadline,
			Node: b.nodeVars(worker.Name),
			Vars: map[string]any{
				"kubernetes_worker_cluster": b.model.Name, "kubernetes_worker_version": b.model.Version, "kubernetes_worker_ignore_preflight": b.ignored(),
			},
		}
		after := slices.Concat(b.hosts.Ready(worker.Name), b.inside)
		for _, plane := range b.planes {
			after = append(after, plane)
		}
		_, upgraded := b.upgraded(name)
		if upgraded {
			after = append(after, upgrades.next()...)
		}
		member, err := stepresource.New(b.ctx, name, stepresource.Args{
			Step: kubestep.Member, Spec: spec, Targets: b.reach(append([]string{worker.Name}, planes...)...),
			Later: b.hosts.Later(worker.Name), Heal: b.heal.Count(name),
			Toolkit: kubestep.Toolkit(playbook.KubernetesNode, playbook.KubernetesWorker),
		}, pulumi.DependsOn(slices.Concat(after, b.after)))
		if err != nil {
			return err
		}
		if upgraded {
			upgrades.add(member)
		}
		b.outcomes = append(b.outcomes, member.Stdout)
		b.outcomes = append(b.outcomes, b.hosts.Outcomes(worker.Name)...)
		b.last = append(b.last, member)
	}
	return nil
}
