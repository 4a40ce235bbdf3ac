package slurmconf

// Check reports every problem of a cluster at once, in the order of its fields.
func Check(c Cluster) Problems {
	var r report
	checkIdentity(&r, c)
	return r.problems
}
