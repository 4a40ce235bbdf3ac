package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/accounting"
)

// Accounting is what the environment declares for the accounting database. The
// environment has a slurm section and is valid. A value that equals its
// default counts as not stated: an entity that the database had before keeps its own.
func (e *Environment) Accounting() accounting.Desired {
	s := e.Slurm
	d := accounting.Desired{Cluster: strings.ToLower(s.ClusterName)}
	for _, q := range s.QOS {
		d.Entities = append(d.Entities, q.accounting())
	}
	for _, a := range s.Accounts {
		d.Entities = append(d.Entities, a.accounting())
	}
	users := map[string]*accounting.Entity{}
	var order []string
	for _, a := range s.Associations {
		d.Entities = append(d.Entities, a.accounting())
		user := users[a.User]
		if user == nil {
			user = &accounting.Entity{Key: accounting.Key{Kind: accounting.KindUser, Name: a.User}}
			users[a.User] = user
			order = append(order, a.User)
		}
		f := fields{entity: user}
		if a.Default {
			f.text(accounting.FieldDefaultAccount, a.Account, "")
		}
		if adminRank[a.AdminLevel] > adminRank[user.Fields[accounting.FieldAdminLevel]] {
			f.text(accounting.FieldAdminLevel, a.AdminLevel, "none")
		}
	}
	for _, name := range order {
		d.Entities = append(d.Entities, *users[name])
	}
	return d
}

// adminRank orders the levels: a user has the highest of its associations'.
var adminRank = map[string]int{"": 0, "none": 0, "operator": 1, "admin": 2}

func (q *QOS) accounting() accounting.Entity {
	f := newFields(accounting.Key{Kind: accounting.KindQOS, Name: q.Name})
	f.label(accounting.FieldDescription, q.Description, q.Name)
	f.number(accounting.FieldPriority, q.Priority)
	f.text(accounting.FieldPreempt, strings.Join(q.Preempts, ","), "")
	f.text(accounting.FieldPreemptMode, q.PreemptMode, "cluster")
	f.number(accounting.FieldGraceTime, q.GraceTime)
	f.text(accounting.FieldUsageFactor, strconv.FormatFloat(valueOr(q.UsageFactor, 1), 'f', -1, 64), "1")
	f.text(accounting.FieldFlags, strings.Join(q.Flags, ","), "")
	f.tres(accounting.FieldMaxTRESPerUser, q.MaxTRESPerUser)
	f.number(accounting.FieldMaxJobsPerUser, q.MaxJobsPerUser)
	f.group(q.Limits)
	return *f.entity
}

func (a *Account) accounting() accounting.Entity {
	f := newFields(accounting.Key{Kind: accounting.KindAccount, Name: a.Name})
	f.text(accounting.FieldParent, a.Parent, rootAccount)
	f.label(accounting.FieldDescription, a.Description, a.Name)
	f.label(accounting.FieldOrganization, a.Organization, a.Parent)
	f.text(accounting.FieldFairshare, strconv.Itoa(valueOr(a.FairShare, defaultFairShare)), strconv.Itoa(defaultFairShare))
	f.text(accounting.FieldQOS, strings.Join(a.QOS, ","), "")
	f.text(accounting.FieldDefaultQOS, a.DefaultQOS, "")
	f.group(a.Limits)
	return *f.entity
}

func (a *Association) accounting() accounting.Entity {
	f := newFields(accounting.Key{Kind: accounting.KindAssociation, Name: a.User, Account: a.Account})
	f.text(accounting.FieldFairshare, strconv.Itoa(valueOr(a.FairShare, defaultFairShare)), strconv.Itoa(defaultFairShare))
	f.text(accounting.FieldQOS, strings.Join(a.QOS, ","), "")
	f.text(accounting.FieldDefaultQOS, a.DefaultQOS, "")
	f.tres(accounting.FieldGrpTRES, a.Limits.GrpTRES)
	f.tres(accounting.FieldMaxTRESPerJob, a.Limits.MaxTRESPerJob)
	f.number(accounting.FieldMaxJobs, a.Limits.MaxJobs)
	f.number(accounting.FieldMaxSubmitJobs, a.Limits.MaxSubmitJobs)
	f.text(accounting.FieldMaxWall, a.Limits.MaxWall, "")
	return *f.entity
}

// fields fills an entity.
type fields struct{ entity *accounting.Entity }

func newFields(key accounting.Key) fields {
	return fields{entity: &accounting.Entity{Key: key}}
}

// text states a value that differs from its default.
func (f fields) text(field accounting.Field, value, otherwise string) {
	if value != otherwise {
		put(&f.entity.Fields, field, value)
	}
}

// label states a text, or lets it be initial where it is the default: Slurm's own
// default would be another.
func (f fields) label(field accounting.Field, value, otherwise string) {
	if value == otherwise {
		put(&f.entity.Initial, field, value)
	}
	f.text(field, value, otherwise)
}

func put(to *map[accounting.Field]string, field accounting.Field, value string) {
	if *to == nil {
		*to = map[accounting.Field]string{}
	}
	(*to)[field] = value
}

// number states a bound; 0 is none.
func (f fields) number(field accounting.Field, n int) {
	if n != 0 {
		f.text(field, strconv.Itoa(n), "")
	}
}

func (f fields) tres(field accounting.Field, amounts map[string]int64) {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		words = append(words, name+"="+strconv.FormatInt(amounts[name], 10))
	}
	if len(words) > 0 {
		f.text(field, strings.Join(words, ","), "")
	}
}

// group states the limits of an account or a QOS as a whole.
func (f fields) group(l Limits) {
	f.tres(accounting.FieldGrpTRES, l.GrpTRES)
	f.tres(accounting.FieldMaxTRESPerJob, l.MaxTRESPerJob)
	f.number(accounting.FieldGrpJobs, l.MaxJobs)
	f.number(accounting.FieldGrpSubmitJobs, l.MaxSubmitJobs)
	f.text(accounting.FieldMaxWall, l.MaxWall, "")
}
