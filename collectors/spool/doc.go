// Package spool is the agent's bounded queue on disk: what was scraped lies here before it
// is sent, and leaves when the broker has acknowledged it.
//
// A spool is one directory:
//
//	lock            flock(2); holds the owner's pid
//	agent           the agent id, minted once: a new directory is a new agent
//	journal         which sequence numbers are settled, and how many of them were dropped
//	<first>.seg     entries from sequence number <first> on, each with its own CRC32C
//	oversize/       records that the broker will never take, each with its reason
//
// Every entry has a sequence number, dense per agent id from 1. A number is settled when
// its record was acknowledged or given up (dropped at the cap, damaged on disk, side-lined).
// The lowest unsettled number and the count of the dropped travel with each record, so the
// store can prove what was lost without asking the agent.
//
// Three failures are kept apart. The death of the process takes nothing that Append has
// returned. The loss of power takes at most what was not yet synced, and an entry is handed
// out for sending only when it is: so a number is never given to two different records. A
// disk that takes no more leaves a small memory to hold new entries, under an agent id of
// its own that ends with the process.
package spool
