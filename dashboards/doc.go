// Package dashboards holds Sextant's Grafana dashboards and alert rules as code.
//
// A dashboard is a list of panels in a file of its own; its queries are the sections of the
// file of the same name below sql. All returns the dashboards, Alerts the rules. What Grafana
// and Prometheus read is generated from them, into deploy/grafana and deploy/prometheus: a
// test says when it is stale, and writes it with -update.
package dashboards
