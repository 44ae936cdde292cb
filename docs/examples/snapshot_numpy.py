"""Loads a flat snapshot into NumPy without copying a number.

python snapshot_numpy.py 'http://127.0.0.1:6566/v1/snapshot?service=node_state&format=raw'"""
import json, sys, urllib.request
import numpy as np

def load(url):
    data = urllib.request.urlopen(url).read()
    assert data[:4] == b"SXS1", "no flat file"
    header = json.loads(data[8:8 + int.from_bytes(data[4:8], "little")])
    parts = {}
    for s in header["sections"]:
        if s["dtype"] == "utf8":  # n+1 offsets, then the text
            ends = np.frombuffer(data, "<u4", s["shape"][0] + 1, s["offset"])
            text = data[s["offset"] + ends.nbytes:]
            parts[s["name"]] = [text[a:b].decode() for a, b in zip(ends[:-1], ends[1:])]
        else:
            parts[s["name"]] = np.ndarray(s["shape"], np.dtype(s["dtype"]).newbyteorder("<"), data, s["offset"])
    return header, parts

if __name__ == "__main__":
    header, parts = load(sys.argv[1])
    print("version", header["version"], *(f"{k} {getattr(v, 'shape', len(v))}" for k, v in parts.items()))
