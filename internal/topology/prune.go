package topology

// Prune returns the switches that a node hangs under, with the lists of
// switches below reduced to those, in the same order. Slurm up to 24.11 does
// not load a switch that has neither, nor a parent that names one. The input
// must be a tree ([Check]); it is not changed.
func Prune(switches []Switch) []Switch {
	byName := make(map[string]*Switch, len(switches))
	for i := range switches {
		byName[switches[i].Name] = &switches[i]
	}
	const visiting, empty, full = 1, 2, 3
	state := make(map[string]int, len(switches))
	var carries func(name string) bool
	carries = func(name string) bool {
		s, ok := byName[name]
		if !ok || state[name] == visiting {
			return false
		}
		if state[name] == 0 {
			state[name] = visiting
			found := len(s.Nodes) > 0
			for _, child := range s.Switches {
				found = carries(child) || found
			}
			state[name] = empty
			if found {
				state[name] = full
			}
		}
		return state[name] == full
	}
	var out []Switch
	for _, s := range switches {
		if !carries(s.Name) {
			continue
		}
		kept := Switch{Name: s.Name, Nodes: s.Nodes}
		for _, child := range s.Switches {
			if carries(child) {
				kept.Switches = append(kept.Switches, child)
			}
		}
		out = append(out, kept)
	}
	return out
}
