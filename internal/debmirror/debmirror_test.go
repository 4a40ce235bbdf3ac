package debmirror

import "testing"

func TestChoose(t *testing.T) {
	cases := map[string]struct {
		texts []string
		want  string
	}{
		"nothing": {want: ""},
		"one line": {texts: []string{"# main\ndeb http://mirror.test/debian/ bookworm main\n"},
			want: "http://mirror.test/debian"},
		"one line with options": {texts: []string{"deb [arch=amd64 signed-by=/k.gpg] https://mirror.test/debian trixie main contrib\n"},
			want: "https://mirror.test/debian"},
		"stanza": {texts: []string{"Types: deb\n# snapshot\nURIs: http://mirror.test/debian\nSuites: trixie trixie-updates\nComponents: main\n"},
			want: "http://mirror.test/debian"},
		"security and foreign archives are passed over": {texts: []string{
			"deb http://sec.test/debian-security bookworm-security main\ndeb http://other.test/x stable-tools main\n",
			"Types: deb\nURIs: http://sec.test/s\nSuites: trixie-security\n\nTypes: deb\nURIs: http://mirror.test/debian\nSuites: trixie\n"},
			want: "http://mirror.test/debian"},
		"disabled and source stanzas": {texts: []string{
			"Enabled: no\nTypes: deb\nURIs: http://off.test/debian\nSuites: trixie\n\nTypes: deb-src\nURIs: http://src.test/debian\nSuites: trixie\n"},
			want: ""},
		"cdrom": {texts: []string{"deb cdrom:[Debian] trixie main\n"}, want: ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := choose(c.texts); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzParseSources(f *testing.F) {
	f.Add("deb [a=b] http://m/d trixie main\n\nTypes: deb\nURIs: http://m/d\nSuites: trixie\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range parseSources(text) {
			if s.uri == "" {
				t.Errorf("%q gives a source without an address", text)
			}
		}
	})
}

func TestFindTakesTheVariable(t *testing.T) {
	t.Setenv(Variable, "http://mirror.test/debian/")
	if got, err := Find(); err != nil || got != "http://mirror.test/debian" {
		t.Errorf("found %q, %v", got, err)
	}
}
