package receive

import (
	"net/http"
	"strconv"
)

// answer is the response to a request.
type answer struct {
	protocol protocol
	code     int
	limit    string
	done     outcome
	err      error // what the sender reads; nil on success
}

// The headers of a response to a 2.0 request.
const (
	samplesWritten    = "X-Prometheus-Remote-Write-Samples-Written"
	histogramsWritten = "X-Prometheus-Remote-Write-Histograms-Written"
	exemplarsWritten  = "X-Prometheus-Remote-Write-Exemplars-Written"
)

// retryAfter is when a sender may try again, in seconds.
const retryAfter = 2

// write sends the answer. Of a request that is to be sent again nothing counts as written:
// the sender adds up what it hears.
func (a answer) write(w http.ResponseWriter) {
	h := w.Header()
	retry := a.code >= 500 || a.code == http.StatusTooManyRequests
	if a.protocol == v2 && a.code != http.StatusUnsupportedMediaType && a.code != http.StatusMethodNotAllowed {
		written := a.done.written
		if retry {
			written = 0
		}
		h.Set(samplesWritten, strconv.Itoa(written))
		h.Set(histogramsWritten, "0")
		h.Set(exemplarsWritten, "0")
	}
	if a.err == nil {
		w.WriteHeader(a.code)
		return
	}
	if retry {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if a.code == http.StatusMethodNotAllowed {
		h.Set("Allow", http.MethodPost)
	}
	http.Error(w, a.err.Error(), a.code)
}
