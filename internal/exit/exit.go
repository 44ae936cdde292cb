// Package exit gives a failed command its exit status, the same in every program: a
// supervisor restarts what failed, and need not restart what will fail in the same way
// until somebody mends a file.
package exit

import (
	"errors"

	"github.com/spf13/cobra"
)

// Exit statuses, as sysexits(3) names them where it has a name.
const (
	StatusFailure = 1  // the command ran and failed
	StatusChanges = 2  // the command ran, and there is something to apply
	StatusEmpty   = 3  // the command ran, and found nothing to tell of
	StatusBroken  = 4  // the command ran, and what it was to check is not as it should be
	StatusUsage   = 64 // unknown command, flag or argument
	StatusConfig  = 78 // the configuration is wrong
)

type failure struct {
	error
	status int
}

func (f failure) Unwrap() error { return f.error }

// Usage marks err, if any, as a mistake on the command line.
func Usage(err error) error { return mark(err, StatusUsage) }

// Config marks err, if any, as a mistake in a configuration file or the environment.
func Config(err error) error { return mark(err, StatusConfig) }

// Changes marks err, if any, as the news that something is not applied yet.
func Changes(err error) error { return mark(err, StatusChanges) }

// Empty marks err, if any, as the news that there is nothing to tell of.
func Empty(err error) error { return mark(err, StatusEmpty) }

// Broken marks err, if any, as the news that what was checked is not as it should be.
func Broken(err error) error { return mark(err, StatusBroken) }

func mark(err error, status int) error {
	if err == nil {
		return nil
	}
	return failure{err, status}
}

// Status is the exit status of a program whose command returned err.
func Status(err error) int {
	var f failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &f):
		return f.status
	}
	return StatusFailure
}

// Strict makes wrong flags and arguments of cmd and all below it mistakes on the command
// line, with the way to the help.
func Strict(cmd *cobra.Command) {
	hint := func(c *cobra.Command, err error) error {
		return Usage(errors.New(err.Error() + "\nsee " + c.CommandPath() + " --help"))
	}
	cmd.SetFlagErrorFunc(hint)
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return hint(c, err)
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		Strict(c)
	}
}
