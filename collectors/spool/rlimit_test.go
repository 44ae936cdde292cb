package spool

import (
	"os/signal"
	"syscall"
)

// Without it the kernel ends a process that writes beyond its file size limit.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

func setFileSizeLimit(l *syscall.Rlimit) error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, l) }
