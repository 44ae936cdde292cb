package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExitStatusAndMessage runs every command in a way that must fail, and wants the
// status that tells a supervisor whether to try again, and a message that says what to
// mend. No case needs a broker or a store.
func TestExitStatusAndMessage(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().String()

	plain := file("plain", "")
	unknown := file("unknown.yaml", "kafka:\n  brokers: ['127.0.0.1:1']\npipelin: {}\n")
	values := file("values.yaml", "pipeline: {group: '', batch_rows: 1}\nlog: {format: xml}\n")
	agentUnknown := file("agent-unknown.yaml", "kafka: {brokers: ['127.0.0.1:1']}\nscrape_configs:\n- job_nam: a\n")
	agentRegex := file("agent-regex.yaml", "kafka: {brokers: ['127.0.0.1:1']}\nscrape_configs:\n- job_name: a\n  relabel_configs:\n  - {regex: '(', action: keep, source_labels: [x]}\n")
	agentSpool := file("agent-spool.yaml", "kafka: {brokers: ['127.0.0.1:1']}\nspool: {dir: "+plain+"/spool}\nweb: {listen: '127.0.0.1:0'}\n")
	agentPort := file("agent-port.yaml", "kafka: {brokers: ['127.0.0.1:1']}\nspool: {dir: "+dir+"/spool}\nweb: {listen: '"+busy+"'}\n")
	view := "name: a\nversion: 1\nentity: node\nkeys: [node]\ntier: node\ninterval: 10s\nttl: 1m\nowner: x\ndescription: d\nfeatures:\n- {name: f, expr: 'up{', dtype: float32, unit: '1', description: d}\n"
	file("views/a.yaml", view)
	noviews := filepath.Dir(file("noviews/readme.txt", ""))

	for _, c := range []struct {
		name, args string
		env        []string
		status     int
		want       []string
	}{
		{"unknown command", "sextant nope", nil, 64, []string{`unknown command "nope"`, "see sextant --help"}},
		{"unknown command of topics", "sextant topics nope", nil, 64, []string{"see sextant topics --help"}},
		{"unknown flag", "sextant setup --nope", nil, 64, []string{"--nope", "see sextant setup --help"}},
		{"wrong flag value", "sextant demo --duration soon", nil, 64, []string{`"soon"`}},
		{"argument too many: migrate", "sextant migrate x", nil, 64, []string{`"x"`}},
		{"argument too many: ledger", "sextant ledger x", nil, 64, []string{`"x"`}},
		{"agent: unknown command", "sextant-agent nope", nil, 64, []string{`unknown command "nope"`}},
		{"agent: unknown flag", "sextant-agent --nope", nil, 64, []string{"--nope"}},
		{"agent: log level", "sextant-agent --log-level loud", nil, 64, []string{"loud"}},

		{"unknown key: pipeline", "sextant pipeline -c " + unknown, nil, 78, []string{unknown + `:3: unknown key "pipelin"`}},
		{"unknown key: serve", "sextant serve -c " + unknown, nil, 78, []string{unknown + ":3: "}},
		{"unknown key: setup", "sextant setup -c " + unknown, nil, 78, []string{unknown + ":3: "}},
		{"unknown key: topics", "sextant topics apply -c " + unknown, nil, 78, []string{unknown + ":3: "}},
		{"unknown key: migrate", "sextant migrate -c " + unknown, nil, 78, []string{unknown + ":3: "}},
		{"unknown key: ledger", "sextant ledger -c " + unknown, nil, 78, []string{unknown + ":3: "}},
		{"every wrong value at once", "sextant serve -c " + values, nil, 78, []string{"pipeline.group", "pipeline.batch_rows", "log.format"}},
		{"no such file", "sextant pipeline -c " + dir + "/none", nil, 78, []string{dir + "/none", "no such file"}},
		{"environment", "sextant serve", []string{"SEXTANT_PIPELINE_LATENESS=soon"}, 78, []string{"SEXTANT_PIPELINE_LATENESS", "soon"}},
		{"views: bad PromQL", "sextant serve", []string{"SEXTANT_VIEWS=" + dir + "/views"}, 78, []string{"a.yaml:11: "}},
		{"views: none", "sextant pipeline", []string{"SEXTANT_VIEWS=" + noviews}, 78, []string{noviews}},
		{"views: validate", "sextant features validate " + dir + "/views", nil, 78, []string{"a.yaml:11: "}},
		{"agent: unknown key", "sextant-agent --config " + agentUnknown, nil, 78, []string{agentUnknown + `:3: unknown key "job_nam"`}},
		{"agent: bad regex", "sextant-agent --config " + agentRegex, nil, 78, []string{agentRegex + ":", "missing closing )"}},
		{"agent: check", "sextant-agent check --config " + agentRegex, nil, 78, []string{"missing closing )"}},
		{"agent: no broker named", "sextant-agent", nil, 78, []string{"kafka.brokers"}},
		{"demo: agent's file", "sextant demo --dir " + dir + "/demo --listen 127.0.0.1:0 --clickhouse 127.0.0.1:0 --agent-config " + agentRegex, nil, 78, []string{"missing closing )"}},

		{"port in use: pipeline", "sextant pipeline", []string{"SEXTANT_PIPELINE_LISTEN=" + busy}, 1, []string{"pipeline.listen", busy, "in use"}},
		{"port in use: serve", "sextant serve", []string{"SEXTANT_SERVE_LISTEN=" + busy}, 1, []string{"serve.listen", busy, "in use"}},
		{"port in use: demo", "sextant demo --dir " + dir + "/demo --listen " + busy, nil, 1, []string{busy, "in use", "--listen"}},
		{"port in use: demo's clickhouse", "sextant demo --dir " + dir + "/demo --listen 127.0.0.1:0 --clickhouse " + busy, nil, 1, []string{busy, "in use", "--clickhouse"}},
		{"port in use: embedded broker", "sextant embedded --clickhouse none --dir " + dir + "/embedded --kafka " + busy, nil, 1, []string{busy, "in use"}},
		{"port in use: agent", "sextant-agent --config " + agentPort, nil, 1, []string{busy, "in use"}},
		{"open to the network: serve", "sextant serve", []string{"SEXTANT_SERVE_LISTEN=0.0.0.0:0"}, 1, []string{"leaves this host"}},

		{"unwritable: demo", "sextant demo --dir " + plain + "/x --listen 127.0.0.1:0", nil, 1, []string{plain, "not a directory"}},
		{"unwritable: embedded broker", "sextant embedded --clickhouse none --kafka 127.0.0.1:0 --dir " + plain + "/x", nil, 1, []string{plain, "not a directory"}},
		{"unwritable: embedded clickhouse", "sextant embedded --kafka none --clickhouse 127.0.0.1:0 --dir " + plain + "/x", nil, 1, []string{plain, "not a directory"}},
		{"unwritable: agent", "sextant-agent --config " + agentSpool, nil, 1, []string{plain, "not a directory"}},
		{"broker away: topics apply", "sextant topics apply", []string{"SEXTANT_KAFKA_BROKERS=127.0.0.1:1"}, 1, []string{"127.0.0.1:1", "refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := strings.Fields(c.args)
			out, status := run(t, c.env, args[0], args[1:]...)
			if status != c.status {
				t.Errorf("exit status %d, want %d", status, c.status)
			}
			for _, w := range c.want {
				if !strings.Contains(out, w) {
					t.Errorf("it does not say %q", w)
				}
			}
			if strings.Contains(out, "goroutine ") || strings.Count(out, "\n") > 12 {
				t.Error("that is no message for a user")
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// TestHelp: every command explains itself and has an example.
func TestHelp(t *testing.T) {
	for _, args := range []string{"sextant", "sextant demo", "sextant setup", "sextant topics", "sextant topics apply", "sextant topics list",
		"sextant migrate", "sextant pipeline", "sextant serve", "sextant features", "sextant features validate", "sextant features list",
		"sextant ledger", "sextant embedded", "sextant fetch", "sextant bench", "sextant version",
		"sextant-agent", "sextant-agent run", "sextant-agent check", "sextant-agent version"} {
		words := strings.Fields(args)
		out, status := run(t, nil, words[0], append(words[1:], "--help")...)
		if status != 0 || !strings.Contains(out, "Examples:") {
			t.Errorf("%s --help: status %d: %s", args, status, out)
		}
	}
}
