package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// large is an environment file with n GPU hosts in racks of 32 under a
// three-level tree.
func large(n int) string {
	var switches strings.Builder
	racks := n / 32
	for rack := range racks {
		fmt.Fprintf(&switches, "        - {name: leaf%d-a, hosts: \"gpu[%05d-%05d]\"}\n", rack+1, rack*32+1, rack*32+32)
	}
	pods := (racks + 15) / 16
	for pod := range pods {
		var leaves []string
		for rack := pod * 16; rack < min(racks, pod*16+16); rack++ {
			leaves = append(leaves, fmt.Sprintf("leaf%d-a", rack+1))
		}
		fmt.Fprintf(&switches, "        - {name: pod%d-b, switches: \"%s\"}\n", pod+1, strings.Join(leaves, ","))
	}
	var top []string
	for pod := range pods {
		top = append(top, fmt.Sprintf("pod%d-b", pod+1))
	}
	fmt.Fprintf(&switches, "        - {name: core, switches: \"%s\"}\n", strings.Join(top, ","))
	return fmt.Sprintf(`config:
  gpucluster:environment:
    name: large
    scheduler: slurm
    inventory:
      addresses: {"gpu[00001-%05[1]d]": "node[00001-%05[1]d].example.org"}
      ssh: {trustOnFirstUse: true}
    profiles:
      small: {sockets: 1, coresPerSocket: 8, memory: 64GiB}
      h100x8: {sockets: 2, coresPerSocket: 56, threadsPerCore: 2, memory: 2TiB, gpus: [{type: h100, count: 8}]}
    hosts:
      - {names: ctl1, profile: small, roles: [controller, database]}
      - {names: "gpu[00001-%05[1]d]", profile: h100x8, roles: [compute]}
    topology:
      switches:
%[2]s    slurm:
      version: "24.11"
      partitions:
        - {name: train, hosts: "gpu[00001-%05[1]d]", default: true}
        - {name: debug, hosts: "gpu[00001-00032]"}
`, n, switches.String())
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1024, 10240} {
		content := []byte(large(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, report := Load("large.yaml", content); len(report.Problems) > 0 {
					b.Fatal(report)
				}
			}
		})
	}
}

// From the text of the file to the bytes of every configuration file.
func BenchmarkLoadAndRender(b *testing.B) {
	for _, n := range []int{1024, 10240} {
		content := []byte(large(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				env, report := Load("large.yaml", content)
				if env == nil {
					b.Fatal(report)
				}
				if _, err := slurmconf.Render(env.SlurmCluster()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
