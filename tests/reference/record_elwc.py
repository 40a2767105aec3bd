"""Records what TensorFlow reads in a file for TF-Ranking: run it by hand to renew.

It needs tensorflow and tensorflow-serving-api, which nothing else here does, in an environment
beside the project's own:

python -m tests.reference.record_elwc
"""

import hashlib
import io
import json
import tempfile
import zipfile
from pathlib import Path

from touchstone.files.learning import RECORDS, read_features, write_learning
from touchstone.files.rating_rows import JudgedPair

RECORDED = Path(__file__).parent / "recorded" / "elwc.json"
PAIRS = [
    JudgedPair("ö2", "", "d1", 200),
    JudgedPair("q1", "", "d2", -2),
    JudgedPair("q1", "", "d1", 3),
    JudgedPair("q1", "", "d9", 1),
]
CSV = "doc_id,bm25,query_id,age\nd1,0.5,q1,3\nd2,1e-3,q1,\nd1,2,ö2,-1\nd7,1,ö2,1\n".encode()


def main() -> None:
    """Writes recorded/elwc.json."""
    import tensorflow as tf
    from tensorflow_serving.apis.input_pb2 import ExampleListWithContext

    def plain(example):
        values = {}
        for name, feature in example.features.feature.items():
            (value,) = getattr(feature, feature.WhichOneof("kind")).value
            values[name] = value.decode() if isinstance(value, bytes) else value
        return values

    features = read_features(io.BytesIO(CSV), name="features.csv")
    with zipfile.ZipFile(io.BytesIO(write_learning("tfranking", PAIRS, features))) as archive:
        content = archive.read(RECORDS)
    read = []
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        for record in tf.data.TFRecordDataset(file.name).as_numpy_iterator():
            message = ExampleListWithContext.FromString(record)
            examples = [plain(one) for one in message.examples]
            read.append({"context": plain(message.context), "examples": examples})
    recorded = {
        "tool": f"tensorflow {tf.__version__}",
        "sha256": hashlib.sha256(content).hexdigest(),
        "read": read,
    }
    RECORDED.write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
