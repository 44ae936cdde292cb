// Package agentcmd is the command line of the agent's two programs: the small one, and the
// one with plugins and device libraries.
package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"sextant/collectors/plugins"
	"sextant/internal/exit"
)

// Main runs the program and ends the process.
func Main(runner plugins.Runner) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(runner, os.Stdout, os.Stderr).ExecuteContext(ctx)
	if errors.Is(err, plugins.ErrAbsent) {
		err = become(err)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sextant-agent:", err)
		stop()
		os.Exit(exit.Status(err))
	}
}

// become puts the program with plugins in the place of this process, which keeps its id,
// arguments, environment and signals. It lies beside this program. It only returns when
// that fails.
func become(why error) error {
	self, err := os.Executable()
	if err != nil {
		return exit.Config(errors.Join(why, err))
	}
	other := filepath.Join(filepath.Dir(self), plugins.Program)
	if err := syscall.Exec(other, os.Args, os.Environ()); err != nil { //nolint:gosec // the operator's own arguments
		return exit.Config(fmt.Errorf("%w\n%s: %w", why, other, err))
	}
	return nil
}
