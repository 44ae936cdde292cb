"""Fills the online store of a Feast repository: python prepare.py REPO VIEW FEATURE,…

REPO has feature_store.yaml, and rows.parquet with node, tick and the features.
"""
import os
import sys
from datetime import timedelta

import pandas as pd
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.types import Float32, String

repo, name, names = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
store = FeatureStore(repo_path=repo)
node = Entity(name="node", join_keys=["node"], value_type=ValueType.STRING)
source = FileSource(path=os.path.join(repo, "rows.parquet"), timestamp_field="tick")
view = FeatureView(name=name, entities=[node], ttl=timedelta(hours=24), source=source, online=True,
                   schema=[Field(name="node", dtype=String)] + [Field(name=n, dtype=Float32) for n in names])
store.apply([node, view])
store.write_to_online_store(name, pd.read_parquet(os.path.join(repo, "rows.parquet")))
