// Package promconfig is the part of Prometheus' configuration that the agent reads: the
// sections global and scrape_configs, and how targets are made from groups.
//
// Prometheus' own package also holds its remote-write and alerting clients, and with them
// the SDKs of three clouds, 15 MB of a program and as much of its resident memory. A test
// holds this part equal to the original, for configurations, faults and targets.
package promconfig
