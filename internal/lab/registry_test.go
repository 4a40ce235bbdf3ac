package lab

import (
	"maps"
	"net/netip"
	"os"
	"testing"
)

func addrs(pairs ...string) map[string]netip.Addr {
	found := map[string]netip.Addr{}
	for i := 0; i < len(pairs); i += 2 {
		found[pairs[i]] = netip.MustParseAddr(pairs[i+1])
	}
	return found
}

func TestChooseAddress(t *testing.T) {
	tiny := "10.0.0.0/28" // .10 to .14
	full := addrs("a", "10.0.0.10", "b", "10.0.0.11", "c", "10.0.0.12", "d", "10.0.0.13", "e", "10.0.0.14")
	cases := map[string]struct {
		subnet string
		known  map[string]netip.Addr
		living map[string]bool
		want   string // empty: an error
	}{
		"first host":                  {subnet: "10.0.0.0/24", want: "10.0.0.10"},
		"keeps what it had":           {subnet: "10.0.0.0/24", known: addrs("x", "10.0.0.77"), want: "10.0.0.77"},
		"lowest gap":                  {subnet: tiny, known: addrs("a", "10.0.0.10", "c", "10.0.0.12"), want: "10.0.0.11"},
		"address of another subnet":   {subnet: tiny, known: addrs("x", "10.9.0.10"), want: "10.0.0.10"},
		"full, one host gone":         {subnet: tiny, known: full, living: map[string]bool{"a": true, "b": true, "d": true, "e": true}, want: "10.0.0.12"},
		"full of living hosts":        {subnet: tiny, known: full, living: map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true}},
		"gone hosts keep it if it is": {subnet: tiny, known: addrs("a", "10.0.0.10"), living: map[string]bool{}, want: "10.0.0.11"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := chooseAddress("x", netip.MustParsePrefix(c.subnet), c.known, c.living)
			if (err != nil) != (c.want == "") || err == nil && got.String() != c.want {
				t.Errorf("got %v, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestRegistryRewritesItsFileInPlace(t *testing.T) {
	r := registry{state: stateDir(t.TempDir()), lab: "demo"}
	subnet := netip.MustParsePrefix("10.0.0.0/24")
	if _, err := r.assign(t.Context(), "a", subnet, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(r.path())
	if err != nil {
		t.Fatal(err)
	}
	// Host b is only known from its container's label, as when the file was lost.
	got, err := r.assign(t.Context(), "c", subnet, addrs("b", "10.0.0.11"))
	if err != nil || got.String() != "10.0.0.12" {
		t.Errorf("c gets %v, %v", got, err)
	}
	if err := r.forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(r.path())
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the hosts file is another file now; hosts would keep the old one")
	}
	text, err := os.ReadFile(r.path())
	if err != nil {
		t.Fatal(err)
	}
	if want := hostsHeader + "10.0.0.11 b\n10.0.0.12 c\n"; string(text) != want {
		t.Errorf("the hosts file is\n%swant\n%s", text, want)
	}
	for range 2 {
		if err := r.remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.forget(t.Context(), "a"); err != nil {
		t.Errorf("forgetting in a removed lab: %v", err)
	}
	if _, err := os.Stat(r.dir()); !os.IsNotExist(err) {
		t.Error("the lab's folder is still there")
	}
}

func FuzzHostsFile(f *testing.F) {
	f.Add("a", uint32(0x0a000001), "b-1", uint32(0x0a000002))
	f.Fuzz(func(t *testing.T, name1 string, a1 uint32, name2 string, a2 uint32) {
		if !namePattern.MatchString(name1) || !namePattern.MatchString(name2) {
			t.Skip()
		}
		known := map[string]netip.Addr{}
		known[name1] = addToAddr(netip.AddrFrom4([4]byte{}), int(a1))
		known[name2] = addToAddr(netip.AddrFrom4([4]byte{}), int(a2))
		if got := parseHosts(string(renderHosts(known))); !maps.Equal(got, known) {
			t.Errorf("%v came back as %v", known, got)
		}
	})
}
