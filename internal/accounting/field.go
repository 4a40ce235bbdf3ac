package accounting

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Field is a field of an entity, by the name that sacctmgr sets it with.
type Field string

// The fields that are managed.
const (
	FieldDescription    Field = "Description"
	FieldOrganization   Field = "Organization"
	FieldParent         Field = "Parent"
	FieldFairshare      Field = "Fairshare"
	FieldQOS            Field = "QOS"
	FieldDefaultQOS     Field = "DefaultQOS"
	FieldGrpTRES        Field = "GrpTRES"
	FieldMaxTRESPerJob  Field = "MaxTRESPerJob"
	FieldMaxTRESPerUser Field = "MaxTRESPerUser"
	FieldGrpJobs        Field = "GrpJobs"
	FieldGrpSubmitJobs  Field = "GrpSubmitJobs"
	FieldMaxJobs        Field = "MaxJobs"
	FieldMaxSubmitJobs  Field = "MaxSubmitJobs"
	FieldMaxJobsPerUser Field = "MaxJobsPerUser"
	FieldMaxWall        Field = "MaxWall"
	FieldPriority       Field = "Priority"
	FieldPreempt        Field = "Preempt"
	FieldPreemptMode    Field = "PreemptMode"
	FieldGraceTime      Field = "GraceTime"
	FieldUsageFactor    Field = "UsageFactor"
	FieldFlags          Field = "Flags"
	FieldDefaultAccount Field = "DefaultAccount"
	FieldAdminLevel     Field = "AdminLevel"
)

// form is how a field's value is written.
type form int

const (
	formText   form = iota // compared without case, as Slurm keeps it
	formName               // a name, folded to lower case
	formLevel              // an administrator's level
	formSet                // names in any order
	formTRES               // name=count, in any order
	formNumber             // "" is no bound
	formFactor             // a decimal number
	formTime               // Slurm's time format, in minutes; "" is no bound
	formSpan               // seconds
)

// property is what is to know about a field.
type property struct {
	form form
	// column that sacctmgr shows it under.
	column string
	// otherwise is the canonical value of a new entity that does not state it.
	otherwise string
	// clear is what to set in order to get there.
	clear string
}

var properties = map[Field]property{
	FieldDescription:    {formText, "Description", "", ""},
	FieldOrganization:   {formText, "Organization", "", ""},
	FieldParent:         {formName, "ParentName", "root", "root"},
	FieldFairshare:      {formName, "Share", "1", "1"}, // a number or "parent"
	FieldQOS:            {formSet, "QOS", "", ""},
	FieldDefaultQOS:     {formName, "DefaultQOS", "", "-1"},
	FieldGrpTRES:        {formTRES, "GrpTRES", "", ""},
	FieldMaxTRESPerJob:  {formTRES, "MaxTRES", "", ""},
	FieldMaxTRESPerUser: {formTRES, "MaxTRESPU", "", ""},
	FieldGrpJobs:        {formNumber, "GrpJobs", "", "-1"},
	FieldGrpSubmitJobs:  {formNumber, "GrpSubmit", "", "-1"},
	FieldMaxJobs:        {formNumber, "MaxJobs", "", "-1"},
	FieldMaxSubmitJobs:  {formNumber, "MaxSubmit", "", "-1"},
	FieldMaxJobsPerUser: {formNumber, "MaxJobsPU", "", "-1"},
	FieldMaxWall:        {formTime, "MaxWall", "", "-1"},
	FieldPriority:       {formNumber, "Priority", "0", "0"},
	FieldPreempt:        {formSet, "Preempt", "", ""},
	FieldPreemptMode:    {formName, "PreemptMode", "cluster", "cluster"},
	FieldGraceTime:      {formSpan, "GraceTime", "0", "0"},
	FieldUsageFactor:    {formFactor, "UsageFactor", "1", "1"},
	FieldFlags:          {formSet, "Flags", "", "-1"},
	FieldDefaultAccount: {formName, "DefaultAccount", "", ""},
	FieldAdminLevel:     {formLevel, "AdminLevel", "none", "none"},
}

// managed are the fields of each kind, in the order in which commands set them.
var managed = map[Kind][]Field{
	KindQOS: {FieldDescription, FieldPriority, FieldPreempt, FieldPreemptMode, FieldGraceTime, FieldUsageFactor,
		FieldFlags, FieldGrpTRES, FieldMaxTRESPerJob, FieldMaxTRESPerUser, FieldGrpJobs, FieldGrpSubmitJobs,
		FieldMaxJobsPerUser, FieldMaxWall},
	KindAccount: {FieldParent, FieldDescription, FieldOrganization, FieldFairshare, FieldQOS, FieldDefaultQOS,
		FieldGrpTRES, FieldMaxTRESPerJob, FieldGrpJobs, FieldGrpSubmitJobs, FieldMaxWall},
	KindUser: {FieldDefaultAccount, FieldAdminLevel},
	KindAssociation: {FieldFairshare, FieldQOS, FieldDefaultQOS, FieldGrpTRES, FieldMaxTRESPerJob,
		FieldMaxJobs, FieldMaxSubmitJobs, FieldMaxWall},
}

// Canonical returns the one way of writing a field's value, so that values can
// be compared. Both what a person writes and what sacctmgr shows is accepted.
func Canonical(f Field, text string) (string, error) {
	p, known := properties[f]
	if !known {
		return "", fmt.Errorf("no field %q", f)
	}
	c, err := p.form.canonical(strings.TrimSpace(text))
	if err != nil {
		return "", fmt.Errorf("field %s: %w", f, err)
	}
	if c == "" {
		c = p.otherwise
	}
	return c, nil
}

func (f form) canonical(text string) (string, error) {
	switch f {
	case formText:
		// sacctmgr turns quotes into this on the way in.
		return strings.NewReplacer("'", "`", `"`, "`").Replace(text), nil
	case formName:
		return strings.ToLower(text), nil
	case formLevel:
		if text = strings.ToLower(text); text == "admin" {
			text = "administrator"
		}
		return text, nil
	case formSet:
		return canonicalSet(text), nil
	case formTRES:
		tres, err := parseTRES(text)
		return formatTRES(tres), err
	case formNumber:
		return canonicalNumber(text)
	case formFactor:
		if text == "" {
			return "", nil
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return "", fmt.Errorf("%q is no number", text)
		}
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case formSpan:
		if !strings.ContainsAny(text, ":-") {
			return canonicalNumber(text)
		}
		return canonicalTime(text)
	case formTime:
		return canonicalTime(text)
	}
	return "", fmt.Errorf("no form %d", f)
}

// canonicalNumber reads a bound; none is "".
func canonicalNumber(text string) (string, error) {
	switch text {
	case "", "-1":
		return "", nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%q is no number", text)
	}
	return strconv.FormatInt(n, 10), nil
}

func canonicalSet(text string) string {
	seen := map[string]bool{}
	var names []string
	for _, n := range strings.Split(strings.ToLower(text), ",") {
		n = strings.TrimSpace(n)
		if n != "" && !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ",")
}

// canonicalTime reads Slurm's formats: minutes, minutes:seconds,
// hours:minutes:seconds, days-hours[:minutes[:seconds]]. The result is seconds.
func canonicalTime(text string) (string, error) {
	switch strings.ToUpper(text) {
	case "", "-1", "UNLIMITED", "INFINITE":
		return "", nil
	}
	bad := fmt.Errorf("%q is no time", text)
	days, rest, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, rest = "0", text
	}
	parts := strings.Split(rest, ":")
	units := [][]int64{{60}, {60, 1}, {3600, 60, 1}}
	if hasDays {
		units = [][]int64{{3600}, {3600, 60}, {3600, 60, 1}}
	}
	if len(parts) > 3 {
		return "", bad
	}
	total, err := strconv.ParseInt(days, 10, 32)
	if err != nil || total < 0 {
		return "", bad
	}
	total *= 86400
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 0 {
			return "", bad
		}
		total += n * units[len(parts)-1][i]
	}
	return strconv.FormatInt(total, 10), nil
}

// parseTRES reads "cpu=20,gres/gpu=16,mem=100G". Memory is in MiB.
func parseTRES(text string) (map[string]int64, error) {
	tres := map[string]int64{}
	for _, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		name, count, ok := strings.Cut(item, "=")
		n, err := parseAmount(count)
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("%q is no name=count", item)
		}
		if n >= 0 {
			tres[strings.ToLower(name)] = n
		}
	}
	return tres, nil
}

// parseAmount reads a count with Slurm's suffixes; sacctmgr shows memory of
// 102400 MiB as 100G.
func parseAmount(text string) (int64, error) {
	shift := 0
	if n := len(text); n > 1 {
		shift = map[byte]int{'K': -10, 'M': 0, 'G': 10, 'T': 20, 'P': 30}[text[n-1]]
		if strings.ContainsRune("KMGTP", rune(text[n-1])) {
			text = text[:n-1]
		}
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil && shift >= 0 && whole <= (1<<62)>>shift {
		return whole << shift, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x < 0 || x > 1<<52 {
		return 0, fmt.Errorf("%q is no count", text)
	}
	for ; shift > 0; shift -= 10 {
		x *= 1024
	}
	if shift < 0 {
		x /= 1024
	}
	return int64(x + 0.5), nil
}

func formatTRES(tres map[string]int64) string {
	names := make([]string, 0, len(tres))
	for n := range tres {
		names = append(names, n)
	}
	sort.Strings(names)
	for i, n := range names {
		names[i] = n + "=" + strconv.FormatInt(tres[n], 10)
	}
	return strings.Join(names, ",")
}

// assignment is the word that makes sacctmgr change a field from one canonical
// value to another.
func assignment(f Field, from, to string) string {
	p := properties[f]
	value := to
	switch {
	case p.form == formTRES:
		value = tresChange(from, to)
	case to == p.otherwise:
		value = p.clear
	case p.form == formTime:
		value = minutesAndSeconds(to)
	}
	return strings.ToLower(string(f)) + "=" + value
}

// tresChange names what goes with -1: sacctmgr keeps resources that are not
// named.
func tresChange(from, to string) string {
	was, _ := parseTRES(from)
	will, _ := parseTRES(to)
	for name := range was {
		if _, stays := will[name]; !stays {
			will[name] = -1
		}
	}
	return formatTRES(will)
}

// minutesAndSeconds writes seconds the way that every release reads.
func minutesAndSeconds(seconds string) string {
	n, _ := strconv.ParseInt(seconds, 10, 64)
	return fmt.Sprintf("%d-%02d:%02d:%02d", n/86400, n/3600%24, n/60%60, n%60)
}

// equal compares two canonical values; Slurm may fold the case of texts.
func equal(f Field, a, b string) bool {
	if properties[f].form == formText {
		return strings.EqualFold(a, b)
	}
	return a == b
}
