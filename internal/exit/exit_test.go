package exit

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestStatusLooksThroughWraps(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {cause, 1}, {Usage(nil), 0}, {Config(nil), 0},
		{fmt.Errorf("read: %w", Config(cause)), 78},
		{errors.Join(cause, Usage(cause)), 64},
	} {
		if got := Status(c.err); got != c.want {
			t.Errorf("%v: status %d, want %d", c.err, got, c.want)
		}
		if c.err != nil && !errors.Is(c.err, cause) {
			t.Errorf("%v hides its cause", c.err)
		}
	}
}

func TestStrict(t *testing.T) {
	tree := func() *cobra.Command {
		root := &cobra.Command{Use: "p", SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {}}
		root.AddCommand(&cobra.Command{Use: "sub", Args: cobra.MaximumNArgs(1), Run: func(*cobra.Command, []string) {}})
		Strict(root)
		root.SetOut(io.Discard)
		return root
	}
	for _, c := range []struct {
		args, help string
	}{
		{"", ""}, {"sub a", ""},
		{"nope", "see p --help"}, {"--nope", "see p --help"},
		{"sub a b", "see p sub --help"}, {"sub --nope", "see p sub --help"},
	} {
		root := tree()
		root.SetArgs(strings.Fields(c.args))
		err := root.Execute()
		want := StatusUsage
		if c.help == "" {
			want = 0
		}
		if Status(err) != want || err != nil && !strings.HasSuffix(err.Error(), c.help) {
			t.Errorf("%q: status %d: %v", c.args, Status(err), err)
		}
	}
}
