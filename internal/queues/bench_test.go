package queues

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// large is the cluster of stacks/Pulumi.example-onprem-kubernetes.yaml with as
// many hosts of eight GPUs as are asked for: of four, three have H100 and one
// L40S, twelve under a leaf. Its teams have the same parts of them as there.
func large(hosts int) Cluster {
	c := Cluster{ControlPlanes: 3, PriorityClasses: []PriorityClass{{Name: "scavenge", Value: -100}, {Name: "training"}, {Name: "serving", Value: 1000}}}
	for i := range hosts {
		gpu := "h100"
		if i >= hosts*3/4 {
			gpu = "l40s"
		}
		c.Workers = append(c.Workers, Worker{Name: fmt.Sprintf("n%04d", i+1), GPUType: gpu, Switches: []string{"spine", fmt.Sprintf("leaf%d", i/12+1)}})
	}
	h100, l40s := hosts*3/4*8, (hosts-hosts*3/4)*8
	c.Teams = []Team{
		{Name: "foundation", Cohort: "research", Weight: 3, Quotas: []Quota{{GPUType: "h100", Nominal: h100 * 4 / 6}}},
		{Name: "vision", Cohort: "research", Quotas: []Quota{
			{GPUType: "h100", Nominal: h100 / 4, Borrowing: number(h100 / 3), Lending: number(h100 / 6)}, {GPUType: "l40s", Nominal: l40s * 3 / 4}}},
		{Name: "platform", Quotas: []Quota{{GPUType: "h100", Nominal: h100 / 12}, {GPUType: "l40s", Nominal: l40s / 4}}},
	}
	for i := range c.Teams {
		t := &c.Teams[i]
		t.Namespace, t.Groups, t.UIDs, t.GIDs = t.Name, []string{t.Name}, []int{30001 + i}, []int{30001 + i}
	}
	return c
}

// count asks how many workloads are admitted, and how many pods run.
func (s *site) count(t testing.TB) (admitted, running int) {
	t.Helper()
	for _, team := range s.c.Teams {
		queue := s.get(t, "/apis/"+kueueAPI+"/clusterqueues/"+team.Name)
		if n, ok := kubetest.At(queue, "status", "admittedWorkloads").(float64); ok {
			admitted += int(n)
		}
		// Names alone would do, but cost a list all the same.
		running += len(items(s.get(t, "/api/v1/namespaces/"+team.Namespace+"/pods?fieldSelector=status.phase%3DRunning")))
	}
	return admitted, running
}

// fill submits jobs of one pod with four GPUs of a type each, as many as each
// team has GPUs for, several at a time; and says how many, and how long it took
// from the first until all were submitted, admitted, and running.
func (s *site) fill(t testing.TB) (total int, submitted, admitted, running time.Duration) {
	t.Helper()
	begin := time.Now()
	var all sync.WaitGroup
	for _, team := range s.c.Teams {
		for _, quota := range team.Quotas {
			mine := quota.Nominal / 4
			total += mine
			all.Go(func() {
				for i := range mine {
					s.submit(t, team.Name, fmt.Sprintf("%s-%d", quota.GPUType, i), ask{pods: 1, gpus: 4, priority: "training", gpu: quota.GPUType})
				}
			})
		}
	}
	all.Wait()
	submitted = time.Since(begin)
	const limit = 30 * time.Minute
	for time.Since(begin) < limit {
		a, r := s.count(t)
		if a == total && admitted == 0 {
			admitted = time.Since(begin)
		}
		if r == total {
			return total, submitted, max(admitted, submitted), time.Since(begin)
		}
		time.Sleep(time.Second / 2)
	}
	a, r := s.count(t)
	t.Fatalf("%d of %d jobs are admitted and %d run after %s", a, total, r, limit)
	return 0, 0, 0, 0
}

// TestFill checks in small what the benchmark measures in large: that jobs fill
// the queues of the example to the last GPU.
func TestFill(t *testing.T) {
	s := newSite(t, large(16))
	if jobs, _, _, _ := s.fill(t); jobs != 32 {
		t.Errorf("%d jobs, want 32", jobs)
	}
	for team, want := range map[string]int{"foundation": 64, "vision": 48, "platform": 16} {
		s.used(t, team, want)
	}
	for _, node := range items(s.get(t, "/api/v1/nodes")) {
		name := kubetest.At(node, "metadata", "name").(string)
		pods := items(s.get(t, "/api/v1/pods?fieldSelector=spec.nodeName%3D"+name))
		if len(pods) != 2 {
			t.Errorf("%s has %d pods of 4 GPUs, want 2", name, len(pods))
		}
	}
}

// BenchmarkFill measures how long a thousand nodes of eight GPUs take to be
// filled by two thousand jobs, with the defaults of kubeadm and of our chart, and
// what the control plane holds in memory then.
func BenchmarkFill(b *testing.B) {
	for _, hosts := range []int{160, 1000} {
		b.Run(fmt.Sprintf("%dnodes", hosts), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := newSite(b, large(hosts))
				b.StartTimer()
				jobs, submitted, admitted, running := s.fill(b)
				b.StopTimer()
				b.ReportMetric(float64(jobs), "jobs")
				b.ReportMetric(submitted.Seconds(), "s-submitted")
				b.ReportMetric(admitted.Seconds(), "s-admitted")
				b.ReportMetric(running.Seconds(), "s-running")
				memory, err := s.Memory()
				if err != nil {
					b.Fatal(err)
				}
				for _, name := range slices.Sorted(maps.Keys(memory)) {
					b.ReportMetric(float64(memory[name]), "MiB-"+name)
				}
				if _, err := s.Do(b.Context(), http.MethodGet, "/readyz", nil); err != nil {
					b.Error(err)
				}
				b.StartTimer()
			}
		})
	}
}
