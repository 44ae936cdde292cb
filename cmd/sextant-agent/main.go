// Command sextant-agent collects the telemetry of one node and ships it to Kafka.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sextant/internal/exit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(os.Stdout, os.Stderr).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sextant-agent:", err)
		stop()
		os.Exit(exit.Status(err))
	}
}
