"""Loads the graph into NumPy: matrices of vertices and edges, and each relation as edge_index for PyTorch Geometric.

python graph_arrow.py http://127.0.0.1:6566/v1/graph"""
import json, sys, urllib.request
import numpy as np
import pyarrow as pa

def load(url):
    body, parts = pa.BufferReader(urllib.request.urlopen(url).read()), {}
    while body.tell() < body.size():  # Arrow streams, one behind the other
        with pa.ipc.open_stream(body) as stream:
            batch, about = stream.read_next_batch(), json.loads(stream.schema.metadata[b"sextant"])
            list(stream)  # to the end of the stream
        parts["header"] = about.get("graph", parts.get("header"))
        if "values" in batch.schema.names:
            parts[about["name"]] = batch["values"].flatten().to_numpy().reshape(-1, batch["values"].type.list_size)
        elif "to" in batch.schema.names:  # lists are rows of a CSR matrix
            ends, to = batch["to"].offsets.to_numpy(), batch["to"].flatten().to_numpy()
            parts[about["name"]] = np.stack([np.repeat(np.arange(batch.num_rows), np.diff(ends)), to])
            if "edge" in batch.schema.names:
                parts[about["name"] + "/edge"] = batch["edge"].flatten().to_numpy()  # rows of parts["edges"]
    return parts

if __name__ == "__main__":
    parts = load(sys.argv[1])
    print("version", parts.pop("header")["version"], *(f"{k} {v.shape}" for k, v in parts.items()))
