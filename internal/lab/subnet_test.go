package lab

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
)

func prefixes(list ...string) []netip.Prefix {
	found := make([]netip.Prefix, len(list))
	for i, s := range list {
		found[i] = netip.MustParsePrefix(s)
	}
	return found
}

func TestChooseSubnet(t *testing.T) {
	small := netip.MustParsePrefix("10.213.0.0/22")
	cases := map[string]struct {
		pool    netip.Prefix
		taken   []netip.Prefix
		want    string
		wantErr error
	}{
		"three of four taken":            {pool: small, taken: prefixes("10.213.0.0/24", "10.213.1.0/24", "10.213.3.0/24"), want: "10.213.2.0/24"},
		"a host route takes its subnet":  {pool: small, taken: prefixes("10.213.0.7/32", "10.213.1.0/24", "10.213.2.0/25"), want: "10.213.3.0/24"},
		"others do not matter":           {pool: netip.MustParsePrefix("10.213.9.0/24"), taken: prefixes("10.0.0.0/16", "192.168.0.0/16"), want: "10.213.9.0/24"},
		"a wide route takes all of them": {pool: small, taken: prefixes("10.0.0.0/8"), wantErr: errPoolExhausted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := chooseSubnet("demo", c.pool, c.taken)
			if !errors.Is(err, c.wantErr) || err == nil && got.String() != c.want {
				t.Errorf("got %v, %v; want %s, %v", got, err, c.want, c.wantErr)
			}
		})
	}
}

func TestChooseSubnetIsStableAndSpreads(t *testing.T) {
	seen := map[netip.Prefix]bool{}
	for _, lab := range []string{"a", "b", "c", "d", "e", "f"} {
		first, err := chooseSubnet(lab, defaultPools[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		second, _ := chooseSubnet(lab, defaultPools[0], nil)
		if first != second {
			t.Errorf("lab %s gets %s, then %s", lab, first, second)
		}
		seen[first] = true
	}
	if len(seen) < 5 {
		t.Errorf("six labs share %d subnets", len(seen))
	}
}

func TestChooseSubnetUsesTheNextPool(t *testing.T) {
	got, err := chooseFromPools("demo", defaultPools, prefixes("10.0.0.0/8"))
	if err != nil || !defaultPools[1].Contains(got.Addr()) {
		t.Errorf("with 10.0.0.0/8 routed elsewhere: got %v, %v", got, err)
	}
	if _, err := chooseFromPools("demo", defaultPools, prefixes("0.0.0.0/1", "128.0.0.0/1")); !errors.Is(err, errPoolExhausted) {
		t.Errorf("with everything taken: %v", err)
	}
}

func TestParseRoutes(t *testing.T) {
	text := `default via 192.0.2.1 dev eth0
172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1 linkdown
10.9.8.7 via 192.0.2.9 dev eth0
unreachable 10.50.0.0/16
local 127.0.0.0/8 dev lo table local proto kernel scope host src 127.0.0.1
broadcast 192.0.2.255 dev eth0 table local proto kernel scope link src 192.0.2.2
`
	want := prefixes("172.17.0.0/16", "10.9.8.7/32", "10.50.0.0/16", "127.0.0.0/8", "192.0.2.255/32")
	if got := parseRoutes(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzParseRoutes(f *testing.F) {
	f.Add("default via 192.0.2.1\n10.0.0.0/8 dev x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parseRoutes(text) {
			if !p.IsValid() || p.Bits() == 0 || p != p.Masked() {
				t.Errorf("%q gives %v", text, p)
			}
		}
	})
}
