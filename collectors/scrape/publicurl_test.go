package scrape

import (
	"net/url"
	"testing"
)

func TestPublicURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:9100/metrics":                              "http://h:9100/metrics",
		"https://me:secret@h/m?token=abc&target=10.0.0.1":    "https://me:xxxxx@h/m?target=10.0.0.1&token=xxxxx",
		"http://h/federate?match%5B%5D=up&x-sig=a&x-sig=b":   "http://h/federate?match%5B%5D=up&x-sig=xxxxx&x-sig=xxxxx",
		"http://h/m?collect%5B%5D=cpu&collect%5B%5D=meminfo": "http://h/m?collect%5B%5D=cpu&collect%5B%5D=meminfo",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := PublicURL(u); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}
