"""Reads from a feature server with Feast's own SDK and its own gRPC stubs, and prints what
they saw as one JSON object. Usage: feast_sdk.py HOST:PORT TIME, TIME being now in ISO 8601."""

import json
import sys
import tempfile
from datetime import datetime, timedelta

import grpc
import pandas
import requests
from feast import Entity, FeatureService, FeatureStore, FeatureView, Field, FileSource, PushSource, RepoConfig, ValueType
from feast.data_source import PushMode
from feast.protos.feast.serving import ServingService_pb2 as pb
from feast.protos.feast.serving.ServingService_pb2_grpc import ServingServiceStub
from feast.protos.feast.types.Value_pb2 import RepeatedValue, Value
from feast.types import Bool, Float32, Float64, Int64, String

address, now = sys.argv[1], datetime.fromisoformat(sys.argv[2])
nodes = ["fresh", "empty", "expired", "nobody"]
features = ["box:busy", "box:bytes", "box:jobs", "box:up", "box:kernel"]


def statuses(response, name):
    i = list(response.proto.metadata.feature_names.val).index(name)
    return [pb.FieldStatus.Name(s) for s in response.proto.results[i].statuses]


with tempfile.TemporaryDirectory() as folder:
    store = FeatureStore(config=RepoConfig(
        project="sextant", provider="local", registry=f"{folder}/registry.db", offline_store={"type": "file"},
        online_store={"type": "remote", "path": f"http://{address}"}, entity_key_serialization_version=3))
    node = Entity(name="node", join_keys=["node"], value_type=ValueType.STRING)
    batch = FileSource(path=f"{folder}/none.parquet", timestamp_field="event_timestamp")
    box = FeatureView(name="box", entities=[node], ttl=timedelta(minutes=1), source=batch, schema=[
        Field(name="node", dtype=String), Field(name="busy", dtype=Float32), Field(name="bytes", dtype=Float64),
        Field(name="jobs", dtype=Int64), Field(name="up", dtype=Bool), Field(name="kernel", dtype=String)])
    outside = FeatureView(name="outside", entities=[node], ttl=timedelta(hours=1),
                          source=PushSource(name="outside", batch_source=batch),
                          schema=[Field(name="node", dtype=String), Field(name="score", dtype=Float32)])
    store.apply([node, box, outside, FeatureService(name="both", features=[box[["busy"]], outside])])

    got = store.get_online_features(features=features, entity_rows=[{"node": n} for n in nodes])
    seen = {"values": got.to_dict(), "statuses": {f.split(":")[1]: statuses(got, f.split(":")[1]) for f in features}}
    seen["full names"] = sorted(store.get_online_features(
        features=["box:busy"], entity_rows=[{"node": "fresh"}], full_feature_names=True).to_dict())
    seen["service"] = store.get_online_features(
        features=store.get_feature_service("both"), entity_rows=[{"node": "fresh"}]).to_dict()

    frame = pandas.DataFrame({"node": ["fresh", "other"], "score": [0.25, 0.5], "event_timestamp": [now, now]})
    store.push("outside", frame, to=PushMode.ONLINE)

seen["push"] = requests.post(f"http://{address}/push", json={
    "push_source_name": "outside", "to": "online", "allow_registry_cache": True,
    "df": {"node": ["third"], "score": [0.75], "event_timestamp": [now.isoformat()]}}).status_code
seen["push out of range"] = requests.post(f"http://{address}/push", json={
    "push_source_name": "outside", "df": {"node": ["third"], "score": [1.5], "event_timestamp": [now.isoformat()]}}).json()

with grpc.insecure_channel(address) as channel:
    stub = ServingServiceStub(channel)
    seen["version"] = stub.GetFeastServingInfo(pb.GetFeastServingInfoRequest()).version
    answer = stub.GetOnlineFeatures(pb.GetOnlineFeaturesRequest(
        features=pb.FeatureList(val=features),
        entities={"node": RepeatedValue(val=[Value(string_val=n) for n in nodes])}))
    seen["grpc"] = {name: {
        "values": [getattr(v, v.WhichOneof("val")) if v.WhichOneof("val") else None for v in column.values],
        "statuses": [pb.FieldStatus.Name(s) for s in column.statuses],
        "times": [t.ToMilliseconds() for t in column.event_timestamps],
    } for name, column in zip(answer.metadata.feature_names.val, answer.results)}
    try:
        stub.GetOnlineFeatures(pb.GetOnlineFeaturesRequest(features=pb.FeatureList(val=["box:nothing"]), entities={"node": RepeatedValue()}))
    except grpc.RpcError as e:
        seen["grpc error"] = [e.code().name, e.details()]

for kind in ("ServingService", "Value"):
    module = sys.modules["feast.protos.feast." + ("serving." if kind == "ServingService" else "types.") + kind + "_pb2"]
    seen["descriptor of " + kind] = module.DESCRIPTOR.serialized_pb.hex()
print(json.dumps(seen))
