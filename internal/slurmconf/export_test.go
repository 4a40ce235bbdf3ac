package slurmconf

// Samples are the golden clusters, for tests outside the package.
var Samples = samples
