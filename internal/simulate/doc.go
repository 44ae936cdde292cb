// Package simulate is a small physical model of a cluster: hosts, accelerators, network
// adapters, the work on them and the faults that befall them.
//
// It stands in where no accelerator is at hand. A device's busy ratio makes its power,
// power makes temperature through a first-order thermal lag, temperature and the power
// cap make the clock, and every counter is the integral of a rate that is shown beside
// it. The host's CPU, memory, disk and network follow the same work. So the readings of
// one moment agree with each other as those of real hardware do.
//
// The model is pure. Step moves virtual time; the same configuration and seed give the
// same cluster at the same virtual time, however the time was cut into calls. Package
// expose writes what the vendors' exporters would print of it, serve answers HTTP, and
// fleet runs the real agent's parts against it.
package simulate
