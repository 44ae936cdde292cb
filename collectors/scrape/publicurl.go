package scrape

import (
	"net/url"
	"slices"
)

// openParams are the parameters of a target's URL that say what is asked for. The values of
// others may be secrets: a token, a signature.
var openParams = []string{"collect[]", "exclude[]", "match[]", "name[]", "module", "target", "format"}

// PublicURL is u as logs and pages may show it: without its password, and without the
// values of parameters that may be secrets.
func PublicURL(u *url.URL) string {
	shown := *u
	if u.RawQuery != "" {
		query := u.Query()
		for name, values := range query {
			if slices.Contains(openParams, name) {
				continue
			}
			for i := range values {
				values[i] = "xxxxx" // as Redacted does
			}
		}
		shown.RawQuery = query.Encode()
	}
	return shown.Redacted()
}
