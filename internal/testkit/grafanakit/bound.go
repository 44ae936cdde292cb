package grafanakit

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// keyed is a table with rows for each tick or scrape, by the key that bounds them in time.
var keyed = map[string]string{"samples": "toYYYYMMDD(ts)", "ingest_ledger": "toYYYYMMDD(scrape)"}

// Bounded says whether a query reads each large table within some time only: the plan must
// prune its partitions. Tables of features are large, too.
func Bounded(ctx context.Context, addr, database, sql string) error {
	plan, err := post(ctx, addr, database, "EXPLAIN indexes = 1 "+sql+"\nFORMAT TSVRaw")
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	reads := strings.Split(plan, "ReadFromMergeTree (")
	for _, read := range reads[1:] {
		table, _, _ := strings.Cut(read, ")")
		_, name, _ := strings.Cut(table, ".")
		key := keyed[name]
		if strings.HasPrefix(name, "features_") {
			key = "toYYYYMMDD(tick)"
		}
		if key != "" && !partitioned(read, key) {
			return fmt.Errorf("it reads %s without a bound in time", table)
		}
	}
	return nil
}

// condition is what the plan says of pruning by a partition key.
var condition = regexp.MustCompile(`(?s)Partition\s.*?Condition: ([^\n]*)`)

func partitioned(read, key string) bool {
	m := condition.FindStringSubmatch(read)
	return m != nil && strings.Contains(m[1], key)
}
