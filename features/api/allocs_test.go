package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer costs no allocation a value: 50,000 values cost what 50 do, whatever the
// request costs by itself.
func TestNoAllocationAValue(t *testing.T) {
	const columns = 50
	h := benchServer(t, 10_000, columns)
	ask := func(n int) func() {
		body := benchRequest(n, columns)
		r := httptest.NewRequest("POST", "/get-online-features", nil)
		w := &discard{header: http.Header{}}
		return func() {
			r.Body = io.NopCloser(strings.NewReader(body))
			h.ServeHTTP(w, r)
		}
	}
	few, many := testing.AllocsPerRun(50, ask(1)), testing.AllocsPerRun(50, ask(1000))
	if few == 0 || many > few+30 {
		t.Errorf("%v allocations for %d values, %v for %d", many, 1000*columns, few, columns)
	}
}

// benchRequest asks for columns features of n entities of benchStore.
func benchRequest(n, columns int) string {
	var refs, names []string
	for c := range columns {
		refs = append(refs, fmt.Sprintf(`"wide:f%d"`, c))
	}
	for i := range n {
		names = append(names, fmt.Sprintf(`"node-%05d"`, i*7))
	}
	return fmt.Sprintf(`{"features":[%s],"entities":{"node":[%s]}}`, strings.Join(refs, ","), strings.Join(names, ","))
}
