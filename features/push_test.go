package features

import (
	"strings"
	"testing"
	"testing/fstest"
)

const pushView = `view: outside
version: 1
entity: node
tier: business
interval: 10s
ttl: 1h
owner: tests
description: What somebody else computes.
source: push
features:
  - {name: score, dtype: float32, min: 0, max: 1, description: Score.}
  - {name: label, dtype: string, description: A string needs no label here.}
`

// A push view has no expressions, says so in YAML that reads back, and is another contract
// than the same view computed here.
func TestPushView(t *testing.T) {
	views, err := Load(fstest.MapFS{"v.yaml": {Data: []byte(pushView)}})
	if err != nil {
		t.Fatal(err)
	}
	v := views[0]
	if !v.Push || v.PromQL() || v.Expression(0) != "" {
		t.Errorf("push %v, PromQL %v, expression %q", v.Push, v.PromQL(), v.Expression(0))
	}
	again, err := ReadTexts([]Text{{"again", v.YAML()}})
	if err != nil || !again.Views[0].Push || again.Views[0].Hash() != v.Hash() {
		t.Errorf("read back: %v\n%s", err, v.YAML())
	}
	computed := *v
	computed.Push = false
	if computed.Hash() == v.Hash() {
		t.Error("the hash does not tell where rows come from")
	}
	for old, want := range map[string]string{
		"source: push":                  "", // then expressions are missing
		"{name: score":                  "feature score: expr has no meaning",
		"source: push\nfeatures":        "sql: has no meaning beside source: push",
		"source: push\nfeatures:\n  - ": `source: "pull" is none of push`,
	} {
		text := pushView
		switch old {
		case "source: push":
			text, want = strings.Replace(text, old+"\n", "", 1), "expr is missing"
		case "{name: score":
			text = strings.Replace(text, old, "{expr: x, name: score", 1)
		case "source: push\nfeatures":
			text = strings.Replace(text, old, "sql: SELECT 1\n"+old, 1)
		default:
			text = strings.Replace(text, "source: push", "source: pull", 1)
		}
		if _, err := Load(fstest.MapFS{"v.yaml": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", old, err, want)
		}
	}
}
