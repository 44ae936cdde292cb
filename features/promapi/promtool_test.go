//go:build prometheus

package promapi

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"sextant/internal/bench/agent"
)

// TestPromtool asks with promtool, built from the module at the version that this project
// uses.
func TestPromtool(t *testing.T) {
	program, err := agent.BuildPrometheus(t.Context(), "promtool", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	server := serve(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"instant", "--time=90", server.URL, `busy{gpu="0"}`}, `busy{gpu="0"} => 9.5 @[90]`},
		{[]string{"range", "--start=0", "--end=20", "--step=10s", server.URL, "sum(busy{gpu='0'})"}, "{} =>\n0.5 @[0]\n1.5 @[10]\n2.5 @[20]"},
		{[]string{"series", "--match=busy", "--start=0", "--end=90", server.URL}, "{__name__=\"busy\", gpu=\"0\"}\n{__name__=\"busy\", gpu=\"1\"}"},
		{[]string{"labels", "--start=0", "--end=90", server.URL, "gpu"}, "0\n1"},
	} {
		out, err := exec.CommandContext(t.Context(), program, append([]string{"query"}, c.args...)...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("promtool query %q: %v\n%s\nwant\n%s", c.args, err, got, c.want)
		}
	}
}
