package lab

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestRecipe(t *testing.T) {
	cases := map[string]struct {
		spec    ImageSpec
		want    string // how the tag begins
		wantErr string
	}{
		"22.05 is on bookworm":      {spec: ImageSpec{Slurm: "22.05"}, want: "gpucluster-lab:bookworm-22.05-"},
		"24.11 is on trixie":        {spec: ImageSpec{Slurm: "24.11"}, want: "gpucluster-lab:trixie-24.11-"},
		"26.05 is on trixie too":    {spec: ImageSpec{Slurm: "26.05", Release: "trixie"}, want: "gpucluster-lab:trixie-26.05-"},
		"no Slurm":                  {spec: ImageSpec{}, want: "gpucluster-lab:trixie-plain-"},
		"for Kubernetes":            {spec: ImageSpec{Kubernetes: true}, want: "gpucluster-lab:trixie-kubernetes-"},
		"for both":                  {spec: ImageSpec{Slurm: "24.11", Kubernetes: true}, want: "gpucluster-lab:trixie-24.11-kubernetes-"},
		"Kubernetes on bookworm":    {spec: ImageSpec{Slurm: "22.05", Kubernetes: true}, wantErr: "Kubernetes on trixie, not on bookworm"},
		"unknown Slurm":             {spec: ImageSpec{Slurm: "23.02"}, wantErr: `no Slurm "23.02"`},
		"wrong release":             {spec: ImageSpec{Slurm: "22.05", Release: "trixie"}, wantErr: "22.05 on bookworm, not on trixie"},
		"unknown release":           {spec: ImageSpec{Release: "jammy"}, wantErr: `no release "jammy"`},
		"an option for a package":   {spec: ImageSpec{Packages: []string{"--allow-unauthenticated"}}, wantErr: "not the name of a Debian package"},
		"a package with a shell in": {spec: ImageSpec{Packages: []string{"x;id"}}, wantErr: "not the name of a Debian package"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := newRecipe(c.spec, "http://mirror.test/debian")
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("got %v, want %q", err, c.wantErr)
				}
				return
			}
			if err != nil || !strings.HasPrefix(r.tag(), c.want) || len(r.tag()) != len(c.want)+12 {
				t.Errorf("got %s, %v; want %s…", r.tag(), err, c.want)
			}
		})
	}
}

func TestImagesShareTheirLowerLayers(t *testing.T) {
	made := func(spec ImageSpec, mirror string) recipe {
		r, err := newRecipe(spec, mirror)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := made(ImageSpec{Slurm: "24.11"}, "http://m"), made(ImageSpec{Slurm: "26.05"}, "http://m")
	if a.serverTag() != b.serverTag() || a.tag() == b.tag() {
		t.Errorf("%s and %s on %s and %s", a.tag(), b.tag(), a.serverTag(), b.serverTag())
	}
	if k := made(ImageSpec{Slurm: "24.11", Kubernetes: true}, "http://m"); k.slurmTag() != a.tag() || k.tag() == a.tag() {
		t.Errorf("%s for Kubernetes is on %s, not on %s", k.tag(), k.slurmTag(), a.tag())
	}
	if c := made(ImageSpec{Slurm: "24.11"}, "http://other"); c.rootTag() == a.rootTag() || c.tag() == a.tag() {
		t.Error("another mirror gives the same image")
	}
	p := made(ImageSpec{Slurm: "24.11", Packages: []string{"htop", "gdb", "htop"}}, "http://m")
	q := made(ImageSpec{Slurm: "24.11", Packages: []string{"gdb", "htop"}}, "http://m")
	if p.tag() != q.tag() {
		t.Error("the order of added packages changes the image's name")
	}
	if p.tag() == a.tag() {
		t.Error("an added package does not change the image's name")
	}
	if !slices.Contains(a.slurm(), "sackd") || slices.Contains(made(ImageSpec{Slurm: "22.05"}, "http://m").slurm(), "sackd") {
		t.Error("sackd is for 24.11 and later only")
	}
	if !strings.Contains(b.sourcesList(), " forky ") || strings.Contains(a.sourcesList(), " forky ") {
		t.Error("forky is for 26.05 only")
	}
}

func TestLineFilterPassesWholeLines(t *testing.T) {
	var out bytes.Buffer
	w := buildProgress(&out)
	for _, part := range []string{"Reading…\nSetting ", "up slurmd (24.11)", " ...\nSelecting x\n", "Fetched 3 MB\nSetting up half"} {
		if _, err := fmt.Fprint(w, part); err != nil {
			t.Fatal(err)
		}
	}
	if want := "lab:   Setting up slurmd (24.11) ...\nlab:   Fetched 3 MB\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
