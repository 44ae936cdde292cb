package exposition

import "bytes"

// cutExemplar takes the exemplar off an OpenMetrics line and returns the line before it
// and where its series text ends. end is where the series text ends if there is no
// exemplar. Exemplars are not kept.
func cutExemplar(line []byte, end int) ([]byte, int) {
	if bytes.IndexByte(line, '#') < 0 {
		return line, end
	}
	// A # may stand in a label value as well: walk over the quoted parts.
	quoted, brace := false, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '}':
			brace = i + 1
		case c == '#' && i > 0 && isBlank(line[i-1]):
			before := trim(line[:i])
			if brace == 0 {
				brace = seriesEnd(before)
			}
			return before, brace
		}
	}
	return line, end
}
