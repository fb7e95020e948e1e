"""Judges the requests of `requests.jsonl` with the manual's `receiver.py`: prints 1 or 0 for each."""
import base64
import json

from receiver import submission


def genuine(request):
    try:
        return submission(request["secret"], request["headers"], base64.b64decode(request["body"])) is not None
    except Exception:
        return False


with open("requests.jsonl", encoding="utf-8") as lines:
    print("".join("1" if genuine(json.loads(line)) else "0" for line in lines))
