"""Python's requests: URL VALUES FILE; prints the answer."""
import json
import sys

import requests

url, values, file = sys.argv[1:]
with open(values, encoding="utf-8") as pairs, open(file, "rb") as document:
    answer = requests.post(url, data=json.load(pairs), files={"file": document}, timeout=30)
print(answer.text)
