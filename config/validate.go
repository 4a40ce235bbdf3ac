package config

// Validate reports everything that is wrong with an environment whose defaults
// are set, warnings included, in the order of the fields.
func (e *Environment) Validate() []Problem {
	v := &validator{env: e}
	v.hosts()
	return v.problems
}

// validator collects problems while it walks an environment.
type validator struct {
	env      *Environment
	problems []Problem
}

func (v *validator) add(kind Kind, path, hint, what string) {
	v.problems = append(v.problems, Problem{Kind: kind, Path: path, What: what, Hint: hint})
}

func (v *validator) hosts() {
	if len(v.env.AllHosts()) == 0 {
		v.add(KindMissing, "hosts", "list at least one controller and one compute host", "no hosts")
	}
}
