package clickhouse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sextant/features/api"
)

// TestServedFeatures asks the real API, which logs every answer, and reads back what it answered.
func TestServedFeatures(t *testing.T) {
	db := openDB(t)
	log, err := api.NewServedLog(db, api.ServedOptions{Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	addr, now := featureServer(t, db, log)
	answer := postJSON(t, "http://"+addr+"/get-online-features",
		`{"features":["box:kernel","box:busy","outside:score"],"entities":{"node":["fresh","empty","expired"]}}`)
	if !strings.Contains(answer, `"values":[0.25,null,null]`) {
		t.Fatal(answer)
	}
	asked, at, old := now.Add(30*time.Second).UnixMilli(), now.UnixMilli(), now.UnixMilli()-300_000
	want := fmt.Sprintf(`%[1]d box@v1 ['empty'] %[2]d %[2]d ['kernel','busy'] [nan,nan] ['',''] ['NULL_VALUE','NULL_VALUE']
%[1]d box@v1 ['expired'] %[3]d %[2]d ['kernel','busy'] [nan,nan] ['',''] ['OUTSIDE_MAX_AGE','OUTSIDE_MAX_AGE']
%[1]d box@v1 ['fresh'] %[2]d %[2]d ['kernel','busy'] [nan,0.25] ['6.8.0',''] ['PRESENT','PRESENT']
%[1]d outside@v1 ['empty'] 0 0 ['score'] [nan] [''] ['NOT_FOUND']
%[1]d outside@v1 ['expired'] 0 0 ['score'] [nan] [''] ['NOT_FOUND']
%[1]d outside@v1 ['fresh'] 0 0 ['score'] [nan] [''] ['NOT_FOUND']`, asked, at, old)
	const columns = "toString(toUnixTimestamp64Milli(time)), view, toString(entity), toString(toUnixTimestamp64Milli(tick)), " +
		"toString(toUnixTimestamp64Milli(known)), toString(features), toString(values), toString(texts), toString(statuses)"
	for deadline := time.Now().Add(20 * time.Second); ; {
		got := strings.Join(text(t, db, columns, "{db}.served_features ORDER BY view, entity"), "\n")
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("served_features holds\n%s\nwant\n%s", got, want)
		}
	}
}
