package lab

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

// TestPoolsAreKept checks that no environment takes a network for its pods of
// which labs get theirs.
func TestPoolsAreKept(t *testing.T) {
	for _, pool := range defaultPools {
		err := config.Check(&config.Environment{
			Name: "e", Scheduler: config.SchedulerKubernetes, Lab: &config.Lab{},
			Profiles: map[string]config.Profile{"p": {Sockets: 1, CoresPerSocket: 2, Memory: 4 * config.GiB}},
			Hosts: []config.HostGroup{
				{Names: "c1", Profile: "p", Roles: []config.Role{config.RoleControlPlane}},
				{Names: "w1", Profile: "p", Roles: []config.Role{config.RoleWorker}},
			},
			Kubernetes: &config.Kubernetes{Version: "1.36", PodCIDR: pool.String()},
		}, config.PartReach, config.PartScheduler)
		if err == nil || strings.Count(err.Error(), "\nkubernetes.podCIDR: ") != 1 || strings.Count(err.Error(), "hint:") != 1 {
			t.Errorf("pods in %s: %v", pool, err)
		}
	}
}
