"""Joins labels to rows with Feast's DuckDB offline store: python feast.py DIR FEATURE,… TTL_SECONDS.

DIR has rows.parquet and labels.parquet. The last line printed is JSON: seconds of the join, with
reading and writing Parquet, rows, and the most memory that was resident in KiB.
"""
import json
import os
import resource
import sys
import time
from datetime import timedelta

folder, names, ttl = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
sys.path.pop(0)  # this file is called feast too

import pandas as pd
import pyarrow.parquet as pq
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, RepoConfig
from feast.types import Float64

repo = os.path.join(folder, "feast-repo")
os.makedirs(repo, exist_ok=True)
store = FeatureStore(config=RepoConfig(
    project="bench", provider="local", registry=os.path.join(repo, "registry.db"), offline_store={"type": "duckdb"},
    online_store={"type": "sqlite", "path": os.path.join(repo, "online.db")}, entity_key_serialization_version=3))
node = Entity(name="node", join_keys=["node"])
source = FileSource(path=os.path.join(folder, "rows.parquet"), timestamp_field="tick", created_timestamp_column="known")
view = FeatureView(name="node_monitoring", entities=[node], ttl=timedelta(seconds=ttl), source=source,
                   schema=[Field(name=n, dtype=Float64) for n in names], online=False)
store.apply([node, view])

begin = time.perf_counter()
labels = pd.read_parquet(os.path.join(folder, "labels.parquet"))
table = store.get_historical_features(entity_df=labels, features=[f"node_monitoring:{n}" for n in names]).to_arrow()
pq.write_table(table, os.path.join(folder, "feast-set.parquet"), compression="zstd")
print(json.dumps({"seconds": time.perf_counter() - begin, "rows": table.num_rows,
                  "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
