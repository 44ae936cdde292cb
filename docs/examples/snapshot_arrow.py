"""Loads an Arrow snapshot into NumPy, and into PyTorch where it is installed, without copying a number.

python snapshot_arrow.py 'http://127.0.0.1:6566/v1/snapshot?service=node_state'"""
import json, sys, urllib.request
import pyarrow as pa

def load(url):
    batch = pa.ipc.open_stream(urllib.request.urlopen(url).read()).read_next_batch()
    header = json.loads(batch.schema.metadata[b"sextant"])
    keys = {k: batch[k].to_pylist() for k in header["join_keys"]}
    dense = {k: batch[k].flatten().to_numpy().reshape(-1, batch[k].type.list_size) for k in ("values", "status", "ages")}
    return header, keys, dense

if __name__ == "__main__":
    header, keys, dense = load(sys.argv[1])
    print("version", header["version"], *(f"{k} {v.shape}" for k, v in dense.items()))
    try:
        import torch
        print(torch.from_numpy(dense["values"].copy()).nan_to_num().mean(0))  # copied: a tensor may be written
    except ImportError:
        pass
