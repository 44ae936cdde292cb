"""Loads snapshots with the examples of the documentation and compares each value, status and
age with the answers of /get-online-features. Prints one JSON object. Usage: snapshot.py HOST:PORT COLD EXAMPLES,
COLD being a server that has no version in memory and answers from the store."""

import json
import math
import sys
import urllib.request
from datetime import datetime

import numpy

address, cold, examples = sys.argv[1:4]
sys.path.insert(0, examples)
import snapshot_arrow
import snapshot_numpy

base = f"http://{address}/v1/snapshot?service=both"
names = {1: "PRESENT", 2: "NULL_VALUE", 3: "NOT_FOUND", 4: "OUTSIDE_MAX_AGE"}


def differences(header, keys, values, status, ages):
    """Compares a snapshot with what the API says of the same nodes."""
    request = urllib.request.Request(f"http://{address}/get-online-features", json.dumps(
        {"feature_service": "both", "entities": {"node": keys}}).encode(), {"Content-Type": "application/json"})
    answer = json.load(urllib.request.urlopen(request))
    out, views = [], [v["view"] for v in header["views"]]
    for d, feature in enumerate(header["features"]):
        column = answer["results"][d + 1]
        for i, key in enumerate(keys):
            value = column["values"][i]
            want = (None if value is None else numpy.float32(value), column["statuses"][i])
            got = (None if math.isnan(values[i][d]) else numpy.float32(values[i][d]), names[int(status[i][d])])
            age = float(ages[i][views.index(feature["view"])])
            time = datetime.fromisoformat(column["event_timestamps"][i]).timestamp()
            if got != want or (math.isnan(age) if time else not math.isnan(age)) or time and abs(header["known"] / 1000 - time - age) > 1e-3:
                out.append([key, feature["name"], str(got), str(want), age, time])
    return out


header, parts = snapshot_numpy.load(base + "&format=raw")
seen = {"version": header["version"], "nodes": parts["keys/node"], "shape": list(parts["values"].shape),
        "statuses": sorted({names[int(s)] for s in parts["status"].flatten()}),
        "raw": differences(header, parts["keys/node"], parts["values"], parts["status"], parts["ages"])}
arrow_header, keys, dense = snapshot_arrow.load(base)
seen["arrow"] = differences(arrow_header, keys["node"], dense["values"], dense["status"], dense["ages"])
past_header, past_keys, past = snapshot_arrow.load(base.replace(address, cold) + f"&as_of={header['known'] / 1000:.3f}")
seen["past"] = differences(past_header, past_keys["node"], past["values"], past["status"], past["ages"])
seen["past version"] = past_header["version"]
text = json.load(urllib.request.urlopen(base + "&format=json"))
seen["json"] = differences(text, text["keys"]["node"], *([[math.nan if x is None else x for x in row] for row in text[k]] for k in ("values", "status", "ages")))
print(json.dumps(seen))
