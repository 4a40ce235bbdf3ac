// Package helmchart reads the custom resource definitions out of a Helm chart.
// Helm itself installs them once and never renews them, so they are given to the
// API by a step of their own, before the chart.
//
// The usual path is [Fetch] from where the chart is, then [Definitions].
package helmchart
