package lab

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const testPublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDkqqLqgqpRWuXZJ4HbSn61yO0mOs9UnmQ1DLQqCqGXx"

func exampleSpec() HostSpec {
	return HostSpec{Lab: "demo", Name: "gpu1", Image: "gpucluster-lab:x", AuthorizedKey: testPublicKey,
		Volumes:  []string{"/var/lib/kubelet", "/var/lib/containerd"},
		Hardware: Hardware{Sockets: 2, CoresPerSocket: 56, ThreadsPerCore: 2, MemoryMiB: 2048000, GPUs: []GPUs{{Count: 2}}}}.withDefaults()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

func TestCreateArgs(t *testing.T) {
	args := createArgs(exampleSpec(), netip.MustParseAddr("10.0.0.10"), "/state/hosts", []string{"SYS_RESOURCE"})
	golden(t, "create-args.txt", strings.Join(args, "\n")+"\n")
}

func TestHostFiles(t *testing.T) {
	var b strings.Builder
	for _, f := range exampleSpec().files(nil) {
		if strings.HasPrefix(f.path, etcDir) {
			b.WriteString("== " + f.path + "\n" + string(f.content))
		}
	}
	golden(t, "host-files.txt", b.String())
}

func TestHostFilesKeepSecretsToTheirOwners(t *testing.T) {
	key := &KeyPair{Private: "PRIVATE", Public: "PUBLIC"}
	spec := exampleSpec()
	spec.SudoUser = true
	modes := map[string]int64{}
	for _, f := range spec.files(key) {
		modes[f.path] = f.mode
		if strings.Contains(string(f.content), "PRIVATE") && f.mode != 0o600 {
			t.Errorf("%s with the host's private key has mode %o", f.path, f.mode)
		}
	}
	for path, want := range map[string]int64{hostKeyFile: 0o600, "/root/.ssh/authorized_keys": 0o600, sudoersFile: 0o440} {
		if modes[path] != want {
			t.Errorf("%s has mode %o, want %o", path, modes[path], want)
		}
	}
	archive, err := archiveOf(spec.files(key))
	if err != nil {
		t.Fatal(err)
	}
	first, err := firstFile(string(archive))
	if err != nil || string(first) != guestInit {
		t.Errorf("the archive does not begin with init: %v", err)
	}
	for _, arg := range createArgs(spec, netip.MustParseAddr("10.0.0.10"), "/h", nil) {
		if strings.Contains(arg, "PRIVATE") {
			t.Error("a secret is on the command line")
		}
	}
}

// TestGPUsOfTwoKinds checks that each GPU is at the device file that it was
// declared at.
func TestGPUsOfTwoKinds(t *testing.T) {
	s := exampleSpec()
	s.Hardware.GPUs = []GPUs{{Count: 2, FirstDevice: 6, Name: "a100"}, {Count: 1, FirstDevice: 2, Name: "h100"}}
	var got []string
	for _, g := range s.withDefaults().gpus() {
		got = append(got, fmt.Sprintf("%d %s %s %s", g.Index, g.Name, g.Device, g.BusID))
	}
	want := []string{"0 h100 /dev/nvidia2 00000000:12:00.0", "1 a100 /dev/nvidia6 00000000:16:00.0", "2 a100 /dev/nvidia7 00000000:17:00.0"}
	if !slices.Equal(got, want) {
		t.Errorf("the GPUs are %q, want %q", got, want)
	}
	if devices := s.devices(); !strings.Contains(devices, "/dev/nvidia7 195 7 666\n") || strings.Contains(devices, "/dev/nvidia0 ") {
		t.Errorf("the devices are\n%s", devices)
	}
}

func TestShapeChangesOnlyWithWhatNeedsANewContainer(t *testing.T) {
	base := exampleSpec()
	cases := map[string]struct {
		change func(*HostSpec)
		want   bool
	}{
		"GPUs":               {func(s *HostSpec) { s.Hardware.GPUs = []GPUs{{Count: 8}} }, false},
		"key":                {func(s *HostSpec) { s.AuthorizedKey = "other" }, false},
		"sudo":               {func(s *HostSpec) { s.SudoUser = true }, false},
		"order of volumes":   {func(s *HostSpec) { s.Volumes = []string{"/var/lib/containerd", "/var/lib/kubelet"} }, false},
		"a repeated volume":  {func(s *HostSpec) { s.Volumes = append(s.Volumes, s.Volumes[0]) }, false},
		"image":              {func(s *HostSpec) { s.Image = "other" }, true},
		"one volume less":    {func(s *HostSpec) { s.Volumes = s.Volumes[:1] }, true},
		"no volume any more": {func(s *HostSpec) { s.Volumes = nil }, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := exampleSpec()
			c.change(&s)
			if got := s.withDefaults().shape() != base.shape(); got != c.want {
				t.Errorf("the shape changes: %v, want %v", got, c.want)
			}
		})
	}
}

func TestValidateReportsEverything(t *testing.T) {
	bad := HostSpec{Lab: "Demo", Name: "gpu_1", AuthorizedKey: "none", Volumes: []string{"a", "/ok"},
		Hardware: Hardware{Sockets: -1, GPUs: []GPUs{{Count: 64}, {Count: 1, FirstDevice: 63}, {Count: -1}}}}
	err := bad.validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{`lab: "Demo"`, `name: "gpu_1"`, "image: ", "authorizedKey: ", "hardware: ", "hardware.gpus: 65 GPUs are more", "hardware.gpus[1]: /dev/nvidia63 is that of another", "hardware.gpus[2]: has a negative", `volumes[0]: "a"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not mention %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "volumes[1]") {
		t.Errorf("%q blames a good volume", err)
	}
	if err := exampleSpec().validate(); err != nil {
		t.Errorf("a good spec: %v", err)
	}
}

func TestGPUIdentitiesDifferAndStay(t *testing.T) {
	seen := map[string]string{}
	for _, host := range []string{"gpu1", "gpu2"} {
		s := exampleSpec()
		s.Name = host
		s.Hardware.GPUs[0].Count = maxGPUs
		again := s.gpus()
		for i, g := range s.gpus() {
			if other, ok := seen[g.UUID]; ok {
				t.Errorf("%s of %s is also in %s", g.UUID, host, other)
			}
			seen[g.UUID] = host
			if again[i] != g {
				t.Errorf("GPU %d of %s changed", i, host)
			}
		}
	}
}
