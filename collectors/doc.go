// Package collectors is the node agent: it scrapes Prometheus targets and reads the host,
// keeps what it got on disk, and ships it to Kafka.
//
//	scrape      the loop: aligned times, Prometheus' labels and limits, Remote-Write bytes
//	exposition  pages of metrics, by the line
//	host        node_exporter's collectors in this process
//	spool       what was scraped and not yet acknowledged, on disk
//	ship        the spool's way to Kafka
//
// This package joins them: the configuration, the start order, the reload.
package collectors
