package accounting

import "testing"

func TestCanonical(t *testing.T) {
	cases := map[string]struct {
		field      Field
		text, want string
	}{
		"no text":                    {FieldDescription, "", ""},
		"quotes as Slurm keeps them": {FieldDescription, `a 'b' "c"`, "a `b` `c`"},
		"a name folds":               {FieldDefaultQOS, "Normal", "normal"},
		"share that is not stated":   {FieldFairshare, "", "1"},
		"share of the parent":        {FieldFairshare, "parent", "parent"},
		"set in any order":           {FieldFlags, "NoReserve,DenyOnLimit, noreserve", "denyonlimit,noreserve"},
		"resources in any order":     {FieldGrpTRES, "gres/gpu=16,cpu=20", "cpu=20,gres/gpu=16"},
		"memory with a unit":         {FieldGrpTRES, "mem=100G", "mem=102400"},
		"memory in a fraction":       {FieldGrpTRES, "mem=1.50T", "mem=1572864"},
		"a resource without bound":   {FieldGrpTRES, "cpu=-1,node=4", "node=4"},
		"no bound":                   {FieldMaxJobs, "-1", ""},
		"bound of nothing":           {FieldMaxJobs, "0", "0"},
		"leading zeros":              {FieldMaxJobs, "007", "7"},
		"factor as shown":            {FieldUsageFactor, "1.500000", "1.5"},
		"whole factor":               {FieldUsageFactor, "1.000000", "1"},
		"minutes":                    {FieldMaxWall, "90", "5400"},
		"minutes and seconds":        {FieldMaxWall, "90:30", "5430"},
		"hours":                      {FieldMaxWall, "01:30:00", "5400"},
		"days":                       {FieldMaxWall, "2-00:00:00", "172800"},
		"days and hours":             {FieldMaxWall, "1-12", "129600"},
		"days, hours and minutes":    {FieldMaxWall, "1-12:30", "131400"},
		"unlimited":                  {FieldMaxWall, "UNLIMITED", ""},
		"seconds of grace":           {FieldGraceTime, "90", "90"},
		"grace as shown":             {FieldGraceTime, "00:01:30", "90"},
		"level as written":           {FieldAdminLevel, "admin", "administrator"},
		"level as shown":             {FieldAdminLevel, "Administrator", "administrator"},
		"no level":                   {FieldAdminLevel, "", "none"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Canonical(c.field, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("Canonical(%s, %q) = %q, want %q", c.field, c.text, got, c.want)
			}
			if again, err := Canonical(c.field, got); c.field != FieldMaxWall && (err != nil || again != got) {
				t.Errorf("the canonical %q becomes %q (%v)", got, again, err)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	cases := map[string]struct {
		field Field
		text  string
	}{
		"unknown field":        {"Colour", "red"},
		"word as a bound":      {FieldMaxJobs, "many"},
		"negative bound":       {FieldMaxJobs, "-2"},
		"word as a factor":     {FieldUsageFactor, "half"},
		"resource without sum": {FieldGrpTRES, "cpu"},
		"sum without resource": {FieldGrpTRES, "=4"},
		"word as a sum":        {FieldGrpTRES, "cpu=four"},
		"word as a time":       {FieldMaxWall, "soon"},
		"too many parts":       {FieldMaxWall, "1:2:3:4"},
		"negative part":        {FieldMaxWall, "1:-2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := Canonical(c.field, c.text); err == nil {
				t.Errorf("Canonical(%s, %q) = %q, want an error", c.field, c.text, got)
			}
		})
	}
}

func TestAssignment(t *testing.T) {
	cases := map[string]struct {
		field    Field
		from, to string
		want     string
	}{
		"a bound":                {FieldMaxJobs, "", "4", "maxjobs=4"},
		"a bound goes":           {FieldMaxJobs, "4", "", "maxjobs=-1"},
		"a resource goes":        {FieldGrpTRES, "cpu=7,gres/gpu=3", "cpu=8", "grptres=cpu=8,gres/gpu=-1"},
		"all resources go":       {FieldGrpTRES, "cpu=7", "", "grptres=cpu=-1"},
		"a list goes":            {FieldQOS, "a,b", "", "qos="},
		"flags go":               {FieldFlags, "noreserve", "", "flags=-1"},
		"a default goes":         {FieldDefaultQOS, "a", "", "defaultqos=-1"},
		"a time":                 {FieldMaxWall, "", "131400", "maxwall=1-12:30:00"},
		"a time goes":            {FieldMaxWall, "60", "", "maxwall=-1"},
		"back to one share":      {FieldFairshare, "7", "1", "fairshare=1"},
		"to the top of the tree": {FieldParent, "research", "root", "parent=root"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := assignment(c.field, c.from, c.to); got != c.want {
				t.Errorf("assignment(%s, %q, %q) = %q, want %q", c.field, c.from, c.to, got, c.want)
			}
		})
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"", "-1", "cpu=4,mem=100G", "1-12:30:00", "a,b", "1.5", "admin", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for field := range properties {
			once, err := Canonical(field, text)
			if err != nil || properties[field].form == formTime || properties[field].form == formSpan {
				continue // seconds read as minutes: Canonical is applied once
			}
			twice, err := Canonical(field, once)
			if err != nil || twice != once {
				t.Errorf("%s: %q becomes %q, then %q (%v)", field, text, once, twice, err)
			}
		}
	})
}
