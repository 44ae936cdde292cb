package main

import (
	"io"
	"strings"
	"testing"

	"sextant/collectors"
	"sextant/internal/config"
	"sextant/internal/exit"
)

// TestOneEnvironmentForBothPrograms: each program knows every key of the other, and
// neither takes a word that none of them reads.
func TestOneEnvironmentForBothPrograms(t *testing.T) {
	server, agent := config.Keys(config.Prefix, &Config{}), config.Keys(config.Prefix, &collectors.Section{})
	if len(server) < 20 || len(agent) < 20 {
		t.Fatalf("%d and %d keys: the test would hold for nothing", len(server), len(agent))
	}
	if _, err := config.Strays(config.Prefix, agent, &Config{}, config.ServerVariables); err != nil {
		t.Errorf("sextant does not know keys of the agent: %v", err)
	}
	if _, err := config.Strays(config.Prefix, server, &collectors.Section{}, config.AgentVariables); err != nil {
		t.Errorf("sextant-agent does not know keys of sextant: %v", err)
	}
	for _, list := range [][]string{config.ServerVariables.Others, config.AgentVariables.Others} {
		for _, word := range list {
			if word != "CONFIG" && !strings.Contains(strings.Join(append(server, agent...), "\n")+"\n", config.Prefix+"_"+word) {
				t.Errorf("%s stands for no key", word)
			}
		}
	}
}

func TestMisspeltVariable(t *testing.T) {
	t.Setenv("SEXTANT_PIPELINE_LATENES", "2s")
	cmd := root()
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SetArgs([]string{"serve"})
	err := cmd.ExecuteContext(t.Context())
	if err == nil || exit.Status(err) != exit.StatusConfig || !strings.Contains(err.Error(), "SEXTANT_PIPELINE_LATENES: no key") ||
		!strings.Contains(err.Error(), "SEXTANT_PIPELINE_LATENESS") {
		t.Errorf("status %d: %v", exit.Status(err), err)
	}
}
