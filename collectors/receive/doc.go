// Package receive is the agent's Prometheus remote-write receiver: any Prometheus,
// vmagent or Alloy points at it, and what it sends goes the way of what the agent
// scraped itself.
//
// A request is decoded (1.0 or 2.0), its series are relabelled and given to nodes, and
// one spool entry is written for each (node, job/instance, time). It is answered with
// success only when the spool has everything; docs/remote-write.md says what a sender
// sees in each other case.
//
// A sender repeats its series with every request, so the work on labels is done once: a
// router remembers where each series goes, and a plan remembers all of a request whose
// layout came before. A sender that hears no answer sends a request again; its entries
// get new numbers and the same series and times, which downstream is one row each.
package receive
