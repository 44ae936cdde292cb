-- Per agent: which records came, and what became of those that did not. The numbers of an
-- agent's records are dense from 1, and every number below the newest "oldest" has either
-- reached Kafka or is counted in "dropped". So below it a gap is a loss; from it on a gap
-- is a record that the agent still holds (after an outage fresh records go first).
--
-- missing  numbers below oldest that the ledger lacks
-- dropped  records that the agent says it gave up: past its disk cap, or too large to send
-- lost     missing and not declared: must be 0. Exact when pending is 0; until then a
--          record that was given up while older ones wait may hide one loss.
-- pending  numbers from oldest to last that the ledger lacks
-- resent   records that reached Kafka more than once; they are stored once
--
-- When the ledger's oldest rows have expired, an agent that is older counts from its
-- first row that is left.
CREATE OR REPLACE VIEW {{.DB}}.ledger{{.OnCluster}} AS
WITH
    per_agent AS
    (
        SELECT
            agent,
            any(node) AS node,
            min(seq) AS first,
            max(seq) AS last,
            uniqExact(seq) AS received,
            count() - uniqExact(seq) AS resent,
            max(oldest) AS oldest,
            max(dropped) AS dropped_ever,
            min(dropped) AS dropped_before,
            max(scrape) AS last_scrape,
            groupUniqArray(seq) AS seqs
        FROM {{.DB}}.ingest_ledger FINAL
        GROUP BY agent
    ),
    counted AS
    (
        SELECT
            p.agent AS agent, p.node AS node, p.first AS first, p.last AS last,
            p.received AS received, p.resent AS resent, p.oldest AS oldest, p.last_scrape AS last_scrape,
            -- An agent whose very first row is still here counts from number 1.
            if(p.first <= a.first_seq, toUInt64(1), p.first) AS base,
            p.dropped_ever - if(p.first <= a.first_seq, toUInt64(0), p.dropped_before) AS dropped,
            arrayCount(s -> s < p.oldest, p.seqs) AS received_below,
            arrayCount(s -> s >= p.oldest, p.seqs) AS received_above
        FROM per_agent AS p
        INNER JOIN (SELECT agent, min(first_seq) AS first_seq FROM {{.DB}}.agents GROUP BY agent) AS a ON a.agent = p.agent
    )
SELECT
    agent, node, first, last, received,
    toUInt64(greatest(toInt64(oldest) - toInt64(base), 0) - toInt64(received_below)) AS missing,
    toUInt64(counted.dropped) AS dropped,
    toUInt64(greatest(toInt64(missing) - toInt64(dropped), 0)) AS lost,
    toUInt64(greatest(toInt64(last) - toInt64(greatest(oldest, base)) + 1 - toInt64(received_above), 0)) AS pending,
    resent,
    oldest, last_scrape
FROM counted
ORDER BY node, agent
