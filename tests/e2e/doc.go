// Package e2e holds the end-to-end tests: each builds a real cluster from an
// environment file with tools/stack.sh, uses it, changes it, breaks it and
// takes it down, and looks at what the cluster itself says.
//
// They need root and a Docker engine and are skipped without, or fail where
// GPUCLUSTER_E2E=required. With -short, the brief stages of TestLife alone run:
//
//	go test ./tests/e2e -run TestLife -v -timeout 60m
package e2e
