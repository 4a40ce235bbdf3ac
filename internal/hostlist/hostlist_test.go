package hostlist

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	cases := map[string]struct {
		expr string
		want []string
	}{
		"nothing":               {"", nil},
		"plain":                 {"login1", []string{"login1"}},
		"padded":                {"gpu[001-003,007],cpu1", []string{"gpu001", "gpu002", "gpu003", "gpu007", "cpu1"}},
		"unpadded":              {"n[8-11]", []string{"n8", "n9", "n10", "n11"}},
		"width from low":        {"n[08-11]", []string{"n08", "n09", "n10", "n11"}},
		"several brackets":      {"rack[0-1]n[01-02]", []string{"rack0n01", "rack0n02", "rack1n01", "rack1n02"}},
		"suffix":                {"ib[01-02]-mgmt", []string{"ib01-mgmt", "ib02-mgmt"}},
		"dashes in name":        {"q1-dy-p4d-[1-2]", []string{"q1-dy-p4d-1", "q1-dy-p4d-2"}},
		"blanks":                {" a1 ,\tb1  c1\nd1", []string{"a1", "b1", "c1", "d1"}},
		"repeated":              {"a1,a1", []string{"a1", "a1"}},
		"bracket of one":        {"n[7]", []string{"n7"}},
		"number before bracket": {"n1[01-02]", []string{"n101", "n102"}},
		"domain":                {"n[1-2].site.example", []string{"n1.site.example", "n2.site.example"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Expand(c.expr)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Fatalf("Expand(%q) = %q, %v; want %q", c.expr, got, err, c.want)
			}
			if n, err := Count(c.expr); err != nil || n != len(c.want) {
				t.Errorf("Count(%q) = %d, %v; want %d", c.expr, n, err, len(c.want))
			}
		})
	}
}

func TestExpandErrors(t *testing.T) {
	cases := map[string]struct {
		expr   string
		kind   Kind
		offset int
	}{
		"leading comma":    {",a1", Empty, 0},
		"two commas":       {"a1,,b1", Empty, 3},
		"comma and blanks": {"a1, ,b1", Empty, 4},
		"trailing comma":   {"a1,", Empty, 2},
		"not closed":       {"a1,n[1-3", Unclosed, 4},
		"not opened":       {"n1]", Unopened, 2},
		"nested":           {"n[1[2]]", NotANumber, 2},
		"empty brackets":   {"n[]", EmptyRange, 2},
		"empty piece":      {"n[1,,2]", EmptyRange, 4},
		"letter":           {"n[1-a]", NotANumber, 4},
		"open range":       {"n[1-]", NotANumber, 4},
		"negative":         {"n[-1]", NotANumber, 2},
		"backwards":        {"n[5-2]", Reversed, 2},
		"too wide":         {"n[0-65536]", TooWide, 2},
		"too wide in sum":  {"n[0-40000,50000-90000]", TooWide, 10},
		"too many":         {"n[0-999][0-999]", TooMany, 0},
		"too many in sum":  {"a[0-65535],b", TooMany, 11},
		"bad character":    {"gpu1,gpu_a*", BadChar, 10},
		"leading dash":     {"-n1", BadChar, 0},
		"colon":            {"a:b", BadChar, 1},
		"too long":         {strings.Repeat("a", 65), TooLong, 0},
		"digits":           {"b1,a12345678901234567890", TooManyNums, 3},
		"digits in range":  {"a[12345678901234567890]", TooManyNums, 2},
		"digits in sum":    {"a123456789012345678[1-2]", TooManyNums, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Expand(c.expr)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Expand(%q) = %d names, %v; want an *Error", c.expr, len(got), err)
			}
			if e.Kind != c.kind || e.Offset != c.offset {
				t.Errorf("Expand(%q): %q at %d; want %q at %d", c.expr, e.Kind, e.Offset, c.kind, c.offset)
			}
			if e.Hint() == "" || !strings.Contains(e.Error(), string(c.kind)) {
				t.Errorf("Expand(%q): no hint, or kind not in %q", c.expr, e)
			}
		})
	}
}

func TestCompress(t *testing.T) {
	cases := map[string]struct {
		names []string
		opts  []Option
		want  string
	}{
		"nothing":          {nil, nil, ""},
		"one":              {[]string{"gpu001"}, nil, "gpu001"},
		"run":              {[]string{"n1", "n2", "n3"}, nil, "n[1-3]"},
		"unsorted":         {[]string{"n3", "n1", "n2", "n1"}, nil, "n[1-3]"},
		"gaps":             {[]string{"gpu001", "gpu002", "gpu007"}, nil, "gpu[001-002,007]"},
		"padding kept":     {[]string{"n08", "n09", "n10"}, nil, "n[08-10]"},
		"grows":            {[]string{"n9", "n10", "n100", "n99"}, nil, "n[9-10,99-100]"},
		"mixed padding":    {[]string{"n1", "n01", "n2"}, nil, "n[1,01,2]"},
		"pad then none":    {[]string{"n009", "n10"}, nil, "n[009,10]"},
		"none then pad":    {[]string{"n9", "n010"}, nil, "n[9,010]"},
		"no number":        {[]string{"b", "a", "a"}, nil, "a,b"},
		"suffix, no range": {[]string{"ib01-mgmt", "ib02-mgmt"}, nil, "ib01-mgmt,ib02-mgmt"},
		"one range a name": {[]string{"r0n1", "r0n2", "r1n1", "r1n2"}, nil, "r0n[1-2],r1n[1-2]"},
		"natural prefixes": {[]string{"r10n1", "r2n1"}, nil, "r2n1,r10n1"},
		"order kept":       {[]string{"n3", "n1", "n2", "b1", "n3"}, []Option{KeepOrder()}, "n[3,1-2],b1,n3"},
		"repeats kept":     {[]string{"a", "a", "n1", "n1"}, []Option{KeepOrder()}, "a,a,n[1,1]"},
		"same twice":       {[]string{"n1", "n1"}, nil, "n1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Compress(c.names, c.opts...); got != c.want {
				t.Errorf("Compress(%q) = %q; want %q", c.names, got, c.want)
			}
		})
	}
}

func TestSortIsNatural(t *testing.T) {
	got := []string{"rack10-gpu2", "rack2-gpu10", "rack2-gpu9", "login", "rack02-gpu9", "gpu10", "gpu9"}
	Sort(got)
	want := []string{"gpu9", "gpu10", "login", "rack02-gpu9", "rack2-gpu9", "rack2-gpu10", "rack10-gpu2"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Sort = %q; want %q", got, want)
	}
}

func TestCheck(t *testing.T) {
	for name, ok := range map[string]bool{
		"gpu001": true, "a-b.c_d": true, "": false, "n[1-2]": false, "n[1]": false, "a,b": false, "a b": false, "é": false,
	} {
		if err := Check(name); (err == nil) != ok {
			t.Errorf("Check(%q) = %v; want ok %v", name, err, ok)
		}
	}
}

// FuzzRoundTrip expands what it is given, and whatever is accepted must come
// back from Compress: as a sorted set, and in order with KeepOrder.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"gpu[001-016]", "a1,b[2-4,9],c", "r[0-1]n[08-11]-x", "n[1,01,2]", "n9,n10 n010", "0,00,1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		names, err := Expand(expr)
		n, countErr := Count(expr)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("error without text")
			}
			return
		}
		if countErr != nil || n != len(names) {
			t.Fatalf("Count(%q) = %d, %v; Expand gave %d", expr, n, countErr, len(names))
		}
		back, err := Expand(Compress(names, KeepOrder()))
		if err != nil || !reflect.DeepEqual(back, names) {
			t.Fatalf("%q in order: %q, %v; want %q", expr, back, err, names)
		}
		sorted := append([]string(nil), names...)
		Sort(sorted)
		back, err = Expand(Compress(names))
		if want := unique(sorted); err != nil || !reflect.DeepEqual(back, want) {
			t.Fatalf("%q as a set: %q, %v; want %q", expr, back, err, want)
		}
	})
}

func unique(sorted []string) []string {
	var out []string
	for i, s := range sorted {
		if i == 0 || s != sorted[i-1] {
			out = append(out, s)
		}
	}
	return out
}

func BenchmarkCompress10240(b *testing.B) {
	names := make([]string, 10240)
	for i := range names {
		names[i] = fmt.Sprintf("gpu%05d", i+1)
	}
	b.ReportAllocs()
	for b.Loop() {
		if Compress(names) != "gpu[00001-10240]" {
			b.Fatal("wrong expression")
		}
	}
}

func BenchmarkExpand10240(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if names, err := Expand("gpu[00001-10240]"); err != nil || len(names) != 10240 {
			b.Fatal(len(names), err)
		}
	}
}

// TestCaseS59: commas inside brackets do not split a list.
func TestCaseS59(t *testing.T) {
	got, err := Expand("gpu[001-003,007],cpu1")
	if err != nil || len(got) != 5 || got[4] != "cpu1" {
		t.Errorf("%q, %v; want five names", got, err)
	}
}

// TestCaseS60: dashes inside a name are kept, and what stands after a bracket
// is written out, since Slurm reads it only from 23.11 on.
func TestCaseS60(t *testing.T) {
	for expr, want := range map[string]string{"q1-dy-p4d-[1-4]": "q1-dy-p4d-[1-4]", "ib[01-04]-mgmt": "ib01-mgmt,ib02-mgmt,ib03-mgmt,ib04-mgmt"} {
		names, err := Expand(expr)
		if got := Compress(names); err != nil || got != want {
			t.Errorf("%s became %s, %v; want %s", expr, got, err, want)
		}
	}
}
